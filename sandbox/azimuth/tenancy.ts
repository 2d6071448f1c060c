import path from "node:path";
import type { KubernetesClient, NewObject } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import { projectFolder } from "../paths";
import { FLAVORS } from "./cloud";

/** What a tenancy of the sandbox's Azimuth contains before any cluster: the names that a stack's configuration uses. */
export const TENANCY = {
  namespace: "az-demo",
  realm: "az-demo",
  template: "kube-1-36-3",
  nextTemplate: "kube-1-36-4",
  credentials: "demo-cloud-credentials",
  lease: "demo",
} as const;

/** Path of a small chart with the value keys of the real one. */
export function simulatedChart(name: "openstack-cluster" | "zenith-operator" | "zenith-apiserver"): string {
  return path.join(projectFolder, "sandbox", "azimuth", "charts", name);
}

function template(name: string, kubernetesVersion: string): NewObject {
  return {
    apiVersion: API.azimuth,
    kind: "ClusterTemplate",
    metadata: { name },
    spec: {
      label: `Kubernetes ${kubernetesVersion}`,
      description: "A cluster of the sandbox",
      values: { kubernetesVersion, machineImageId: "3c9e-img", controlPlane: { machineCount: 1 } },
    },
  };
}

/** Returns the objects of a tenancy, as Azimuth's API and its administrators create them. */
function tenancyObjects(namespace: string = TENANCY.namespace): NewObject[] {
  const { realm, credentials, lease } = TENANCY;
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    template(TENANCY.template, "1.36.3"),
    template(TENANCY.nextTemplate, "1.36.4"),
    {
      apiVersion: API.identity,
      kind: "Realm",
      metadata: { name: realm, namespace },
      spec: { tenancyId: "0a1b2c" },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: credentials, namespace },
      stringData: { "clouds.yaml": "clouds: {openstack: {auth: {auth_url: https://cloud.sandbox.example}}}" },
    },
    {
      apiVersion: API.scheduling,
      kind: "Lease",
      metadata: { name: lease, namespace },
      spec: {
        cloudCredentialsSecretName: credentials,
        // only a Lease with an end reserves machines
        endsAt: "2099-12-31T00:00:00Z",
        resources: { machines: Object.keys(FLAVORS).map((sizeId) => ({ sizeId, count: 1 })) },
      },
    },
  ];
}

/** Creates a tenancy with Azimuth's API as the field manager. */
export async function makeTenancy(client: KubernetesClient, namespace?: string): Promise<void> {
  for (const object of tenancyObjects(namespace))
    await client.apply(object, { fieldManager: "azimuth-api", force: true });
}
