/**
 * How many objects the engine creates at once (`--parallel`). The engine's default is four for each processor of its
 * host, so half of twenty servers would wait for the other half. No variable sets it: PULUMI_OPTION_PARALLEL makes
 * Pulumi 3.230 panic.
 */
export const PARALLEL_OPERATIONS = 32;

/** The same value as arguments of `pulumi up` and `pulumi destroy`. */
export const PARALLEL_ARGUMENTS: readonly string[] = ["--parallel", String(PARALLEL_OPERATIONS)];
