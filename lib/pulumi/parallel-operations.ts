/**
 * How many objects the engine works on at once, as `--parallel` says it. The engine's own number is four for each
 * processor of the machine where it runs; but a cloud's objects wait seconds for a cloud far away, so that of twenty
 * servers half would wait for the other half. The engine reads it from no variable: PULUMI_OPTION_PARALLEL makes
 * Pulumi 3.230 panic.
 */
export const PARALLEL_OPERATIONS = 32;

/** The same as arguments of `pulumi up` and `pulumi destroy`. */
export const PARALLEL_ARGUMENTS: readonly string[] = ["--parallel", String(PARALLEL_OPERATIONS)];
