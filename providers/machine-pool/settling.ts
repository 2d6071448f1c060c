import { setTimeout as pause } from "node:timers/promises";
import { WaitTimeout } from "../../clients/wait";
import { givenUpBecause } from "../../core/machine-pool/conclusion";
import { givenUp } from "../../core/machine-pool/failure";
import { unsettled } from "../../core/machine-pool/infrastructure";
import { type ObservedNode, secondsUntilAvailable } from "../../core/machine-pool/nodes";
import type { ObservedPool } from "../../core/machine-pool/observed";
import type { PoolInputs } from "./pool-inputs";
import { nameOf, PoolFailed, type PoolSession } from "./pool-session";
import { whereIs } from "./referred-objects";

interface Wait {
  /** the deadline, from now */
  seconds: number;
  signal: AbortSignal;
  progress: (line: string) => void;
}

/**
 * @returns whether the infrastructure had done what it is asked for; else it has now, and the pool has to be looked at anew
 * @throws PoolFailed
 */
export async function untilSettled(
  { management }: PoolSession,
  inputs: PoolInputs,
  { infrastructure }: ObservedPool,
  { seconds, signal, progress }: Wait,
): Promise<boolean> {
  const { namespace } = inputs;
  const ref = infrastructure && (await whereIs(management, namespace, infrastructure));
  const first = ref && (await management.get<object>(ref));
  if (ref === undefined || first === undefined) return true;
  const words = givenUp(first);
  if (words !== undefined)
    throw new PoolFailed(inputs, givenUpBecause(`${ref.kind} ${ref.name}: ${words}`).failed);
  if (unsettled(first) === undefined) return true;
  await management.watchUntil<true, object>({
    ...ref,
    what: `${ref.kind} ${namespace}/${ref.name}`,
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

/** @returns whether all nodes had been Ready for long enough; else they have now, and the pool has to be looked at anew */
export async function wereAvailable(
  { pool, nodes }: { pool: ObservedPool; nodes: readonly ObservedNode[] },
  inputs: PoolInputs,
  { seconds, signal, progress }: Wait,
): Promise<boolean> {
  const { minReadySeconds, providerIDs } = pool;
  const missing = secondsUntilAvailable(providerIDs, nodes, minReadySeconds, Date.now());
  if (missing === 0) return true;
  const lack = `every node is Ready, and has to be for ${Math.ceil(missing)} s more (minReadySeconds)`;
  if (missing > seconds)
    throw new WaitTimeout(`the nodes of ${nameOf(inputs)} to be available`, lack, inputs.timeouts.nodes);
  progress(lack);
  await pause(missing * 1000, undefined, { signal });
  return false;
}
