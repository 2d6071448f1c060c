import type { KubernetesClient, KubernetesObject } from "../../lib/kubernetes";
import { ECHO_IMAGE } from "../../sandbox/nodes";

/** Namespace of the tests' own objects. */
export const NAMESPACE = "foresail-test";

interface Guarded {
  readonly name: string;
  readonly replicas: number;
  /** Of the PodDisruptionBudget. */
  readonly minAvailable: number;
  /** The node that its pods prefer as long as they may. */
  readonly preferred: string;
}

interface DeploymentObject extends KubernetesObject {
  readonly status?: { readonly availableReplicas?: number };
}

/** Makes a Deployment with a PodDisruptionBudget, and waits until all its pods run. */
export async function makeGuarded(client: KubernetesClient, guarded: Guarded): Promise<void> {
  const { name, replicas, minAvailable, preferred } = guarded;
  const labels = { app: name };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, { force: true });
  await client.apply(
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name, namespace: NAMESPACE },
      spec: { minAvailable, selector: { matchLabels: labels } },
    },
    { force: true },
  );
  const preference = { key: "kubernetes.io/hostname", operator: "In", values: [preferred] };
  await client.apply(
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: NAMESPACE },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 1,
            affinity: {
              nodeAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: [
                  { weight: 100, preference: { matchExpressions: [preference] } },
                ],
              },
            },
            containers: [
              {
                name: "echo",
                image: ECHO_IMAGE,
                imagePullPolicy: "Never",
                // long enough that the budget has to block the second eviction
                readinessProbe: { tcpSocket: { port: 8080 }, initialDelaySeconds: 3, periodSeconds: 1 },
              },
            ],
          },
        },
      },
    },
    { force: true },
  );
  await awaitAvailable(client, name, replicas);
}

/** Waits until all pods of a Deployment run. */
export async function awaitAvailable(
  client: KubernetesClient,
  name: string,
  replicas: number,
): Promise<void> {
  await client.watchUntil<void, DeploymentObject>({
    what: `the Deployment ${name}`,
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespace: NAMESPACE,
    name,
    seconds: 90,
    decide: ([deployment]) => {
      const available = deployment?.status?.availableReplicas ?? 0;
      return available === replicas
        ? { done: undefined }
        : { pending: `${available} of ${replicas} available` };
    },
  });
}

/** Deletes the Deployment and its budget. */
export async function removeGuarded(client: KubernetesClient, name: string): Promise<void> {
  await client.delete({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", namespace: NAMESPACE, name });
  await client.delete({ apiVersion: "apps/v1", kind: "Deployment", namespace: NAMESPACE, name });
}

/** The lowest number of available replicas that a watch sees while some work runs. */
export async function lowestAvailable(
  client: KubernetesClient,
  name: string,
  work: Promise<unknown>,
): Promise<number> {
  const end = new AbortController();
  let lowest = Infinity;
  const watched = client
    .watchUntil<void, DeploymentObject>({
      what: "the end of the work",
      apiVersion: "apps/v1",
      kind: "Deployment",
      namespace: NAMESPACE,
      name,
      seconds: 600,
      signal: end.signal,
      decide: ([deployment]) => {
        lowest = Math.min(lowest, deployment?.status?.availableReplicas ?? 0);
        return { pending: `${lowest} available at the lowest` };
      },
    })
    .catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
  await work.finally(() => end.abort());
  await watched;
  return lowest;
}
