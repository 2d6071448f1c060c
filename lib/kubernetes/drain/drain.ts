import { type DrainAllowances, planDrain, nameOf } from "./plan";
import { anySignal } from "../../abort";
import { waitFor, WaitTimeout } from "../../wait";
import type { KubernetesClient } from "../client";
import { KubernetesError, KubernetesUnreachable } from "../errors";
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
 * Cordons a node, evicts its pods through the eviction API and waits until they are gone. Retries evictions that a
 * PodDisruptionBudget blocks until the deadline.
 *
 * @throws DrainRefused before any eviction; WaitTimeout with the pods and the budgets that block them
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
  const held = new Map<string, string>();
  const left = () => Math.max(0.1, (deadline - Date.now()) / 1000);
  const evictions = plan.evict.map((pod) => evictUntilTaken(client, pod, left(), held, shared));
  const leaving = [...plan.evict, ...plan.leaving];
  const gone = waitUntilGone(client, node, leaving, left(), held, shared);
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
  held: Map<string, string>,
  options: { signal: AbortSignal; progress?: (line: string) => void },
): Promise<void> {
  const { namespace = "default", name = "", uid } = pod.metadata ?? {};
  // waitUntilGone times out first and names all pods
  await waitFor({
    ...options,
    what: `the eviction of ${nameOf(pod)}`,
    seconds: seconds + 5,
    firstPauseMilliseconds: 1000,
    probe: async () => {
      try {
        await client.evict({ namespace, name, uid });
      } catch (error) {
        // the uid makes it safe to send the eviction again when its answer was lost
        if (error instanceof KubernetesUnreachable && uid && (error.outcomeUnknown || !error.isFinal))
          return { pending: error.lastSeen };
        if (!(error instanceof KubernetesError)) throw error;
        // another pod with the same name, or one that is already being deleted
        if (error.status === 409) return { done: undefined };
        if (error.status !== 429 && !isPassing(error)) throw error;
        const words = error.causes.join(" ") || error.remote;
        held.set(uid ?? nameOf(pod), words);
        return { pending: words };
      }
      held.delete(uid ?? nameOf(pod));
      return { done: undefined };
    },
  });
}

/**
 * The API returns these errors while a budget's controller has not caught up, and while the pod's namespace is being
 * deleted, which deletes the pod too.
 */
function isPassing({ status, causeReasons }: KubernetesError): boolean {
  return (status >= 500 && status !== 501) || causeReasons.includes("NamespaceTerminating");
}

async function waitUntilGone(
  client: KubernetesClient,
  node: string,
  pods: Pod[],
  seconds: number,
  held: Map<string, string>,
  options: { signal: AbortSignal; progress?: (line: string) => void },
): Promise<void> {
  const leaving = new Set(pods.map(({ metadata }) => metadata?.uid));
  if (leaving.size === 0) return;
  const what = `the pods of ${node} to be gone`;
  let still = pods;
  const condition = () => still.map((pod) => describe(pod, held)).join("; ");
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
    // a budget can block a pod without any event of the pod
    throw error instanceof WaitTimeout ? new WaitTimeout(what, condition(), error.seconds) : error;
  }
}

function describe(pod: Pod, held: Map<string, string>): string {
  const words = held.get(pod.metadata?.uid ?? nameOf(pod));
  if (words) return `${nameOf(pod)} held: ${words}`;
  return `${nameOf(pod)} ${pod.metadata?.deletionTimestamp ? "ending" : "running"}`;
}
