import type { KubernetesClient } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { CLUSTER_API, CLUSTER_GROUP } from "../../sandbox/capi/kinds";
import { managerCommand, managerDefinitions } from "../../sandbox/capi/manager";
import { untilManagerReady } from "../../sandbox/capi/sandbox-cluster";
import { installDefinitions, readObjects } from "../../sandbox/management/definitions";
import { type BareApiServer, freePorts } from "./bare-api-server";

const KINDS = ["cluster", "machine", "machinedeployment"];
const ADMISSION = "admissionregistration.k8s.io/v1";

/**
 * Has Cluster API's own definitions and webhooks check Clusters, Machines and MachineDeployments. Its manager runs without
 * reconciling any object, because simulated controllers do.
 *
 * @param program the core manager that serves `v1beta1`
 */
export async function useClusterApiWebhooks(
  api: BareApiServer,
  kubernetes: KubernetesClient,
  program: string,
): Promise<void> {
  const files = await managerDefinitions(program);
  await installDefinitions(kubernetes, await readObjects(files));
  const [webhook = 0, diagnostics = 0, health = 0] = await freePorts(3);
  const ports = { webhook, diagnostics, health };
  const { environment, ...command } = managerCommand(program, api.server, ports);
  api.run("manager", { ...command, args: [...command.args, "--watch-filter=nothing"] }, environment);
  await untilManagerReady(health, 60);
  const caBundle = Buffer.from(api.server.authorityCertificate).toString("base64");
  for (const [kind, verb] of [
    ["MutatingWebhookConfiguration", "mutate"],
    ["ValidatingWebhookConfiguration", "validate"],
  ] as const)
    await kubernetes.apply({
      apiVersion: ADMISSION,
      kind,
      metadata: { name: "cluster-api" },
      webhooks: KINDS.map((each) => ({
        name: `${verb}.${each}.${CLUSTER_GROUP}`,
        clientConfig: {
          url: `https://127.0.0.1:${webhook}/${verb}-${CLUSTER_API.replace(/[./]/g, "-")}-${each}`,
          caBundle,
        },
        rules: [
          {
            apiGroups: [CLUSTER_GROUP],
            apiVersions: ["v1beta1"],
            resources: [`${each}s`],
            operations: ["CREATE", "UPDATE"],
          },
        ],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        failurePolicy: "Fail",
      })),
    });
  await untilAsked(kubernetes);
}

/** The API server learns of webhooks by a watch of its own. */
function untilAsked(kubernetes: KubernetesClient): Promise<void> {
  const metadata = { name: "asked", namespace: "default" };
  const ref = { apiVersion: CLUSTER_API, kind: "Machine", ...metadata };
  const infrastructureRef = { apiVersion: "x/v1", kind: "X", name: "x" };
  const spec = { clusterName: "x", version: "none", bootstrap: { dataSecretName: "" }, infrastructureRef };
  return waitFor<void>({
    what: "Cluster API's webhooks to be asked",
    seconds: 30,
    probe: async () => {
      const answer = await kubernetes
        .create({ apiVersion: CLUSTER_API, kind: "Machine", metadata, spec })
        .then(
          () => "made",
          (error: Error) => error.message,
        );
      if (/denied the request/.test(answer)) return { done: undefined };
      await kubernetes.delete(ref);
      return { pending: answer };
    },
  });
}
