import type { KubernetesClient } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import {
  AZIMUTH_DEFINITIONS,
  CLUSTER_API_DEFINITIONS,
  ZENITH_DEFINITIONS,
} from "../../sandbox/azimuth/definitions";
import { installDefinitions } from "../../sandbox/management/definitions";

/** Makes what a cluster "demo" through Azimuth has on its management cluster, which is its own target, too. */
export async function makeClusterObjects(
  client: KubernetesClient,
  { namespace, kubeconfig }: { namespace: string; kubeconfig: string },
): Promise<void> {
  await installDefinitions(client, [
    ...AZIMUTH_DEFINITIONS,
    ...CLUSTER_API_DEFINITIONS,
    ...ZENITH_DEFINITIONS,
  ]);
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await client.create({
    apiVersion: API.azimuth,
    kind: "Cluster",
    metadata: { name: "demo", namespace },
    spec: {
      label: "demo",
      templateName: "t",
      cloudCredentialsSecretName: "c",
      controlPlaneMachineSize: "s",
      paused: true,
    },
  });
  await client.create({
    apiVersion: API.identity,
    kind: "Platform",
    metadata: { name: "kube-demo", namespace },
    spec: { realmName: "az-demo" },
  });
  await client.create({
    apiVersion: API.addons,
    kind: "HelmRelease",
    metadata: {
      name: "demo-site",
      namespace,
      labels: {
        "capi.stackhpc.com/cluster": "demo",
        "capi.stackhpc.com/component": "site",
        "addons.stackhpc.com/cluster": "demo",
        "addons.stackhpc.com/release-name": "site",
        "addons.stackhpc.com/release-namespace": namespace,
      },
    },
    spec: {
      clusterName: "demo",
      targetNamespace: namespace,
      chart: { repo: "https://r", name: "site", version: "1.0.0" },
    },
  });
  const value = Buffer.from(kubeconfig).toString("base64");
  await client.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "demo-kubeconfig", namespace },
    data: { value },
  });
}
