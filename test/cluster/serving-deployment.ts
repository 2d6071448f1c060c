import type { KubernetesClient, KubernetesObject, NewObject } from "../../lib/kubernetes";
import { overNodes } from "../../sandbox/check/echo-objects";
import { ECHO_IMAGE } from "../../sandbox/nodes";
import { awaitAvailable, NAMESPACE } from "./guarded-deployment";

interface ServiceObject extends KubernetesObject {
  readonly spec?: { readonly clusterIP?: string };
}

/**
 * Creates a Deployment that follows good practice: its pods leave the Service before they end, and a
 * PodDisruptionBudget lets one go at a time.
 * @returns the URL of its Service, for the cluster's machines
 */
export async function makeServing(
  client: KubernetesClient,
  { name, replicas }: { name: string; replicas: number },
): Promise<string> {
  const labels = { app: name };
  const metadata = { name, namespace: NAMESPACE };
  const selector = { matchLabels: labels };
  const objects: NewObject[] = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { maxUnavailable: 1, selector },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas, selector, template: { metadata: { labels }, spec: servingPod(labels) } },
    },
  ];
  for (const object of objects) await client.apply(object, { force: true });
  await awaitAvailable(client, name, replicas);
  const service = await client.get<ServiceObject>({ apiVersion: "v1", kind: "Service", ...metadata });
  return `http://${service?.spec?.clusterIP}/`;
}

function servingPod(labels: Record<string, string>): object {
  return {
    terminationGracePeriodSeconds: 30,
    topologySpreadConstraints: overNodes(labels),
    containers: [
      {
        name: "echo",
        image: ECHO_IMAGE,
        imagePullPolicy: "Never",
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        // every node knows that the pod leaves before it stops serving
        lifecycle: { preStop: { sleep: { seconds: 8 } } },
      },
    ],
  };
}
