import type { TestCluster } from "./test-cluster";

/** One run of a remote step, from a machine's own logs. */
export interface StepRun {
  readonly machine: string;
  readonly operation: string;
  /** As the machine's clock had it: YYYY-MM-DDThh:mm:ss.mmmZ. */
  readonly began: string;
  /** Undefined when the step never ended. */
  readonly ended?: string | undefined;
  readonly exitCode?: number | undefined;
}

/** Steps that only read. */
const QUESTIONS = [
  "facts",
  "admin-kubeconfig",
  "control-plane-secrets",
  "etcd-members",
  "encryption-status",
  "encryption-key",
  "encryption-stale",
];

const BEGAN = /^== (\S+Z) ([a-z-]+)$/;
const ENDED = /^== (\S+Z) ([a-z-]+) ended with (\d+)$/;

/** Reads the runs from one machine's logs, file after file. */
export function parseStepLog(machine: string, log: string): StepRun[] {
  const runs: StepRun[] = [];
  for (const line of log.split("\n")) {
    const [, began, begun] = BEGAN.exec(line) ?? [];
    if (began !== undefined && begun !== undefined) runs.push({ machine, operation: begun, began });
    const [, ended, done, code] = ENDED.exec(line) ?? [];
    if (ended === undefined || done === undefined) continue;
    const open = runs.findLastIndex((run) => run.operation === done && run.ended === undefined);
    if (open < 0) throw new Error(`${machine}: ${done} ended at ${ended} without having begun`);
    runs[open] = { ...runs[open]!, ended, exitCode: Number(code) };
  }
  return runs;
}

/** Everything that ran on machines that answer. */
export async function stepRuns(
  cluster: Pick<TestCluster, "onMachine">,
  machines: readonly string[],
): Promise<StepRun[]> {
  const logs = await Promise.all(
    machines.map(async (machine) => {
      const log = await cluster.onMachine(machine, "cat /var/log/foresail/*.log 2>/dev/null || true");
      return parseStepLog(machine, log);
    }),
  );
  return logs.flat();
}

/** The steps that change a machine, as "machine: operation", sorted; one entry a run. */
export function changingOperations(runs: readonly StepRun[]): string[] {
  return runs
    .filter(({ operation }) => !QUESTIONS.includes(operation))
    .map(({ machine, operation }) => `${machine}: ${operation}`)
    .sort();
}

/** What ran since an earlier reading of the logs. */
export function since(before: readonly StepRun[], now: readonly StepRun[]): StepRun[] {
  const key = (run: StepRun) => `${run.machine} ${run.operation} ${run.began}`;
  const old = new Map<string, number>();
  for (const run of before) old.set(key(run), (old.get(key(run)) ?? 0) + 1);
  return now.filter((run) => {
    const count = old.get(key(run)) ?? 0;
    old.set(key(run), count - 1);
    return count <= 0;
  });
}

/** Pairs of runs on one machine of which the later began before the earlier had ended. */
export function overlaps(runs: readonly StepRun[]): [StepRun, StepRun][] {
  return runs.flatMap((one) =>
    runs
      .filter(
        (other) =>
          other !== one &&
          other.machine === one.machine &&
          other.began >= one.began &&
          (one.ended === undefined || other.began < one.ended),
      )
      .map((other): [StepRun, StepRun] => [one, other]),
  );
}
