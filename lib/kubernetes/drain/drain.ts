import { tryEviction } from "./eviction";
import { type DrainAllowances, planDrain, namespacedName } from "./plan";
import { anySignal } from "../../abort";
import { waitFor, WaitTimeout } from "../../wait";
import type { KubernetesClient } from "../client";
import type { Pod } from "../objects";

export interface DrainOptions extends DrainAllowances {
  /** for all evictions, and until the pods are gone */
  seconds: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
  /** called after the cordon, before any eviction; throws when nothing more may be changed */
  mayGoOn?: () => Promise<void>;
}

/** Pods on the node may not be evicted. The node is cordoned, and no pod was evicted. */
export class DrainRefused extends Error {
  override readonly name = "DrainRefused";

  constructor(
    readonly node: string,
    /** "namespace/name why", one for each pod */
    readonly pods: string[],
  ) {
    super(
      `${node} can't be drained, nothing was evicted from it:\n${pods.map((pod) => `  ${pod}`).join("\n")}\n` +
        `Move or delete these pods, or allow it in the configuration.`,
    );
  }
}

/** Cordons a node, or uncordons it (false). */
export async function setUnschedulable(
  client: KubernetesClient,
  node: string,
  unschedulable: boolean,
): Promise<void> {
  const patch = { spec: { unschedulable: unschedulable || null } };
  await client.mergePatch({ apiVersion: "v1", kind: "Node", name: node }, patch);
}

/**
 * Cordons a node, evicts its pods through the eviction API and waits until they are gone. Repeats evictions that a
 * PodDisruptionBudget or admission refuses until the deadline; the other pods are evicted meanwhile.
 *
 * @throws DrainRefused before any eviction; KubernetesError when the user may not evict pods; WaitTimeout with the pods
 * and what refuses their evictions
 */
export async function drainNode(
  client: KubernetesClient,
  node: string,
  options: DrainOptions,
): Promise<void> {
  const deadline = Date.now() + options.seconds * 1000;
  await setUnschedulable(client, node, true);
  const plan = planDrain(await client.listPods({ fieldSelector: `spec.nodeName=${node}` }), options);
  if (plan.refuse.length > 0) {
    throw new DrainRefused(
      node,
      plan.refuse.map(({ name, why }) => `${name} ${why}`),
    );
  }
  await options.mayGoOn?.();
  const fault = new AbortController();
  const shared = { ...options, signal: anySignal(fault.signal, options.signal) };
  // by pod: why its last eviction was not accepted
  const refused = new Map<string, string>();
  const left = () => Math.max(0.1, (deadline - Date.now()) / 1000);
  const evictions = plan.evict.map((pod) => evictUntilTaken(client, pod, left(), refused, shared));
  const leaving = [...plan.evict, ...plan.leaving];
  const gone = waitUntilGone(client, node, leaving, left(), refused, shared);
  try {
    await Promise.all([...evictions, gone]);
  } catch (error) {
    fault.abort(error);
    await Promise.allSettled([...evictions, gone]);
    throw error;
  }
}

async function evictUntilTaken(
  client: KubernetesClient,
  pod: Pod,
  seconds: number,
  refused: Map<string, string>,
  options: { signal: AbortSignal; progress?: (line: string) => void },
): Promise<void> {
  const key = keyOf(pod);
  // waitUntilGone times out first and names all pods
  await waitFor<void>({
    ...options,
    what: `the eviction of ${namespacedName(pod)}`,
    seconds: seconds + 5,
    firstPauseMilliseconds: 1000,
    probe: async (signal) => {
      const found = await tryEviction(client, pod, signal);
      if ("done" in found) refused.delete(key);
      else refused.set(key, found.pending);
      return found;
    },
  });
}

async function waitUntilGone(
  client: KubernetesClient,
  node: string,
  pods: Pod[],
  seconds: number,
  refused: Map<string, string>,
  options: { signal: AbortSignal; progress?: (line: string) => void },
): Promise<void> {
  const leaving = new Set(pods.map(({ metadata }) => metadata?.uid));
  if (leaving.size === 0) return;
  const what = `the pods of ${node} to be gone`;
  let still = pods;
  const condition = () => still.map((pod) => describe(pod, refused)).join("; ");
  try {
    await client.watchUntil<void, Pod>({
      ...options,
      what,
      apiVersion: "v1",
      kind: "Pod",
      fieldSelector: `spec.nodeName=${node}`,
      seconds,
      decide: (present) => {
        still = present.filter(({ metadata }) => leaving.has(metadata?.uid));
        return still.length === 0 ? { done: undefined } : { pending: condition() };
      },
    });
  } catch (error) {
    // an eviction can be refused without any event of the pod
    throw error instanceof WaitTimeout ? new WaitTimeout(what, condition(), error.seconds) : error;
  }
}

function describe(pod: Pod, refused: Map<string, string>): string {
  const { deletionTimestamp, finalizers = [] } = pod.metadata ?? {};
  if (deletionTimestamp) {
    const kept = finalizers.length === 0 ? "" : `, kept by its finalizers ${finalizers.join(", ")}`;
    return `${namespacedName(pod)} ending${kept}`;
  }
  return refused.get(keyOf(pod)) ?? `${namespacedName(pod)} running`;
}

function keyOf(pod: Pod): string {
  return pod.metadata?.uid ?? namespacedName(pod);
}
