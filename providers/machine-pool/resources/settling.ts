import { setTimeout as pause } from "node:timers/promises";
import type { ObjectRef } from "../../../lib/kubernetes";
import { WaitTimeout } from "../../../lib/wait";
import { terminalFailureReason } from "../plan/evaluation";
import { terminalFailure } from "../plan/failure";
import { unsettled } from "../plan/infrastructure";
import { type ObservedNode, secondsUntilAvailable } from "../plan/nodes";
import type { ObservedPool } from "../plan/observed";
import type { PoolInputs } from "./pool-inputs";
import { nameOf, PoolFailed, type PoolSession } from "./pool-session";
import { whereIs } from "./referred-objects";

interface Wait {
  /** the timeout */
  seconds: number;
  signal: AbortSignal;
  progress: (line: string) => void;
}

/** The current infrastructure object, or why it can't be read. */
export type Infrastructure = { ref: ObjectRef; object: object } | { error: unknown } | undefined;

/** Reads the infrastructure object of a pool. @returns undefined when it does not exist; never throws */
export async function askInfrastructure(
  { management }: PoolSession,
  { namespace }: PoolInputs,
  { infrastructure }: ObservedPool,
): Promise<Infrastructure> {
  try {
    const ref = infrastructure && (await whereIs(management, namespace, infrastructure));
    const object = ref && (await management.get<object>(ref));
    return ref && object && { ref, object };
  } catch (error) {
    return { error };
  }
}

/**
 * @param asked the infrastructure object, read when the pool had its machines
 * @returns true if the infrastructure had already finished; false if it has finished now, and the pool must be
 *   evaluated again
 * @throws PoolFailed; why the object could not be read
 */
export async function untilSettled(
  { management }: PoolSession,
  inputs: PoolInputs,
  asked: Infrastructure,
  { seconds, signal, progress }: Wait,
): Promise<boolean> {
  if (asked === undefined) return true;
  if ("error" in asked) throw asked.error;
  const { ref, object: first } = asked;
  const words = terminalFailure(first);
  if (words !== undefined)
    throw new PoolFailed(inputs, terminalFailureReason(`${ref.kind} ${ref.name}: ${words}`).failed);
  if (unsettled(first) === undefined) return true;
  await management.watchUntil<true, object>({
    ...ref,
    what: `${ref.kind} ${inputs.namespace}/${ref.name}`,
    seconds: Math.max(seconds, 0.05),
    signal,
    progress,
    decide: ([object]) => {
      const why = object && unsettled(object);
      return why === undefined ? { done: true } : { pending: why };
    },
  });
  return false;
}

/**
 * @returns true if all nodes had already been Ready for long enough; false if they are now, and the pool must be
 *   evaluated again
 */
export async function wereAvailable(
  { pool, nodes }: { pool: ObservedPool; nodes: readonly ObservedNode[] },
  inputs: PoolInputs,
  { seconds, signal, progress }: Wait,
): Promise<boolean> {
  const { minReadySeconds, providerIDs } = pool;
  const missing = secondsUntilAvailable(providerIDs, nodes, minReadySeconds, Date.now());
  if (missing === 0) return true;
  const unmetRequirement = `every node is Ready, and has to be for ${Math.ceil(missing)} s more (minReadySeconds)`;
  if (missing > seconds)
    throw new WaitTimeout(
      `the nodes of ${nameOf(inputs)} to be available`,
      unmetRequirement,
      inputs.timeouts.nodes,
    );
  progress(unmetRequirement);
  await pause(missing * 1000, undefined, { signal });
  return false;
}
