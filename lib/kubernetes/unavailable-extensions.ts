import type {
  V1APIService,
  V1EndpointSlice,
  V1ValidatingWebhook,
  V1ValidatingWebhookConfiguration,
} from "@kubernetes/client-node";
import type { KubernetesClient } from "./client";
import { KindNotServed, KubernetesError } from "./errors";
import type { ListArgs } from "./list";
import type { Parts } from "./objects";

type Webhook = Parts<V1ValidatingWebhook>;
type WebhookConfiguration = Parts<V1ValidatingWebhookConfiguration>;

const ADMISSION = "admissionregistration.k8s.io/v1";
const WEBHOOKS = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/**
 * Returns the aggregated APIs that are down, and the admission webhooks that refuse every request since their Service has
 * no endpoint, each with the reason. While one of them is down, controllers can't do what a deletion waits for. Leaves out
 * what may not be read.
 */
export async function unavailableExtensions(kubernetes: KubernetesClient): Promise<string[]> {
  return (await Promise.all([unavailableApis(kubernetes), unavailableWebhooks(kubernetes)])).flat();
}

async function unavailableApis(kubernetes: KubernetesClient): Promise<string[]> {
  const apis = await listed<Parts<V1APIService>>(kubernetes, {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
  });
  return (apis ?? []).flatMap(({ metadata, status }) => {
    const available = status?.conditions?.find(({ type }) => type === "Available");
    if (available?.status !== "False") return [];
    return [`the aggregated API ${metadata?.name} is down (${available.reason}: ${available.message})`];
  });
}

async function unavailableWebhooks(kubernetes: KubernetesClient): Promise<string[]> {
  const configurations = await Promise.all(
    WEBHOOKS.map((kind) => listed<WebhookConfiguration>(kubernetes, { apiVersion: ADMISSION, kind })),
  );
  const failing = configurations
    .flatMap((each) => each ?? [])
    .flatMap(({ webhooks = [] }) =>
      webhooks.filter(({ failurePolicy, clientConfig }) => failurePolicy === "Fail" && clientConfig?.service),
    );
  return (await Promise.all(failing.map((webhook) => unavailable(kubernetes, webhook)))).flat();
}

async function unavailable(kubernetes: KubernetesClient, { name, clientConfig }: Webhook): Promise<string[]> {
  const { namespace, name: service } = clientConfig?.service ?? {};
  const slices = await listed<Parts<V1EndpointSlice>>(kubernetes, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    namespace,
    labelSelector: `kubernetes.io/service-name=${service}`,
  });
  const isReady = slices?.some(({ endpoints }) =>
    endpoints?.some(({ conditions }) => conditions?.ready !== false),
  );
  // what may not be read may be ready
  if (isReady ?? true) return [];
  return [
    `the admission webhook ${name} is down (the Service ${namespace}/${service} has no ready endpoint)`,
  ];
}

/** Lists objects; undefined when they may not be read, or are not served. */
async function listed<O>(kubernetes: KubernetesClient, args: ListArgs): Promise<O[] | undefined> {
  try {
    return await kubernetes.list<O>(args);
  } catch (error) {
    if (error instanceof KubernetesError || error instanceof KindNotServed) return undefined;
    throw error;
  }
}
