import type { KubernetesClient, KubernetesObject } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { NAMESPACE } from "./guarded-deployment";

const SECONDS = 240;
const ANSWER_SECONDS = 60;

interface ServiceObject extends KubernetesObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/**
 * Makes a Service of type LoadBalancer for the pods of a Deployment of `makeServing`.
 * @returns the load balancer's address
 */
export async function makeBalanced(client: KubernetesClient, name: string, app: string): Promise<string> {
  await client.apply({
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: NAMESPACE, name },
    spec: { type: "LoadBalancer", selector: { app }, ports: [{ port: 80, targetPort: 8080 }] },
  });
  return client.watchUntil<string, ServiceObject>({
    what: `the load balancer of the Service ${name}`,
    apiVersion: "v1",
    kind: "Service",
    namespace: NAMESPACE,
    name,
    seconds: SECONDS,
    decide: ([service]) => {
      const address = service?.status?.loadBalancer?.ingress?.[0]?.ip;
      return address === undefined ? { pending: "it has no address" } : { done: address };
    },
  });
}

/** The response of a Service through its load balancer, as soon as one of its pods is behind it. */
export async function answerOf(address: string): Promise<string> {
  return waitFor<string>({
    what: `an answer of ${address}`,
    seconds: ANSWER_SECONDS,
    probe: async (signal) => {
      const response = await fetch(`http://${address}/`, { signal }).catch((error: unknown) => String(error));
      if (typeof response === "string") return { pending: response };
      const text = await response.text();
      return response.ok && text !== "" ? { done: text } : { pending: `${response.status} "${text}"` };
    },
  });
}

/** Deletes the Service, and waits until the cloud's controller has released it. */
export async function removeBalanced(client: KubernetesClient, name: string): Promise<void> {
  const service = { apiVersion: "v1", kind: "Service", namespace: NAMESPACE, name };
  await client.delete(service);
  await client.watchUntil<void>({
    ...service,
    what: `the end of the Service ${name}`,
    seconds: SECONDS,
    decide: (services) => (services.length === 0 ? { done: undefined } : { pending: "it is there" }),
  });
}
