import type { ClusterAccess, ConnectOptions, KubernetesClient } from "../../../lib/kubernetes";
import { engineSignal } from "../../../lib/process/parent-watch";
import { describeFailure, type FailureContext, PartialFailure } from "../../../lib/pulumi/failure";
import { report } from "../../../lib/pulumi/log";
import { userAgent } from "../../../lib/version";
import { isKnown } from "../../../lib/unknown";
import { apiGroupOf, type Identity } from "../plan/identity";

/** The common inputs of resources for a cluster's objects. */
export interface ObjectInputs {
  /** Kubeconfig of the object's cluster; secret. */
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  /** Timeout of the wait, and of the object's deletion. */
  timeoutSeconds: number;
}

/** The arguments of a guard's rule. */
export interface GuardArgs<Guard> {
  guard: Guard;
  /** the object in the state, with the values that were read from it */
  before?: { name: string; values: Record<string, unknown> };
  object: Identity;
  live: unknown;
}

const CALL_SECONDS = 60;
const PREVIEW_SECONDS = 10;

type Access = ClusterAccess & Pick<ObjectInputs, "stack">;

/**
 * Connects to the cluster with only the rights of the credentials, which may be limited to one namespace.
 *
 * @throws KubernetesUnreachable at the deadline; KubeconfigRefused
 */
export async function connectTo(
  inputs: Access,
  options: Partial<ConnectOptions> = {},
): Promise<KubernetesClient> {
  const { KubernetesClient } = await import("../../../lib/kubernetes/index.js");
  return KubernetesClient.connect(
    { kubeconfig: inputs.kubeconfig },
    { seconds: CALL_SECONDS, authorizedPath: "/api", userAgent: userAgent(inputs), ...options },
  );
}

/** Runs work with a connection and closes it. */
export async function withCluster<T>(
  inputs: Access,
  options: Partial<ConnectOptions>,
  work: (kubernetes: KubernetesClient) => Promise<T>,
): Promise<T> {
  const kubernetes = await connectTo(inputs, options);
  try {
    return await work(kubernetes);
  } finally {
    kubernetes.close();
  }
}

/** Reads from the cluster in a preview. @returns `silence`: why the cluster did not respond */
export async function askCluster<T>(
  inputs: Pick<ObjectInputs, "kubeconfig" | "stack">,
  ask: (kubernetes: KubernetesClient) => Promise<T>,
): Promise<{ answer: T } | { silence: string }> {
  if (!isKnown(inputs.kubeconfig)) return { silence: "the cluster is not there yet" };
  const { KubernetesUnreachable } = await import("../../../lib/kubernetes/index.js");
  try {
    return { answer: await withCluster(inputs, { seconds: PREVIEW_SECONDS, readsOnly: true }, ask) };
  } catch (error) {
    if (error instanceof KubernetesUnreachable) return { silence: error.message };
    throw error;
  }
}

/** Returns the names of a kind's objects in the namespace of a missing one. */
export async function siblings(
  kubernetes: KubernetesClient,
  { apiVersion, kind, namespace }: Identity,
): Promise<string[]> {
  const objects = await kubernetes.list({ apiVersion, kind, namespace });
  return objects.map(({ metadata }) => metadata?.name ?? "").sort();
}

/** What a handler needs to work on a cluster. */
export interface ClusterWork {
  kubernetes: KubernetesClient;
  /** aborts when the engine ends */
  signal: AbortSignal;
  progress: (line: string) => void;
}

interface WorkOptions {
  readsOnly?: boolean;
  /** returns id and properties for the state, once there is a side effect to record */
  saved?: () => { id: string; properties: object } | undefined;
  /** what installs the kind, for the message when it is not served */
  installs?: { installedBy?: string };
}

/**
 * Runs work on a cluster for one resource, until the engine ends.
 *
 * @param context resource and step for failure messages; the work may change the step
 */
export async function onCluster<T>(
  inputs: Access,
  context: FailureContext,
  work: (work: ClusterWork) => Promise<T>,
  { readsOnly, saved, installs }: WorkOptions = {},
): Promise<T> {
  const { signal, stop } = engineSignal();
  const progress = (line: string) => report(context.resource, line);
  try {
    return await withCluster(inputs, { signal, progress, readsOnly }, (kubernetes) =>
      work({ kubernetes, signal, progress }),
    );
  } catch (error) {
    if (installs && isNotServed(error))
      Object.assign(error as Error, { next: `${installer(installs)}, then run the same again` });
    const made = saved?.();
    if (made) throw new PartialFailure(made.id, made.properties, context, error);
    throw new Error(describeFailure(context, error), { cause: error });
  } finally {
    stop();
  }
}

/** Returns whether the cluster does not serve a kind. */
export function isNotServed(error: unknown): boolean {
  return error instanceof Error && error.name === "KindNotServed";
}

/** Returns what to install when a kind is not served. */
export function installer({ installedBy = "the definition of this kind" }: { installedBy?: string }): string {
  return `install ${installedBy}`;
}

/** Returns whether two identities are of the same object, in any version of the API. */
export function isSameObject(one: Identity, other: Identity): boolean {
  return (
    apiGroupOf(one.apiVersion) === apiGroupOf(other.apiVersion) &&
    one.kind === other.kind &&
    one.namespace === other.namespace &&
    one.name === other.name
  );
}
