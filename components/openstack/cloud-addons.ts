import * as pulumi from "@pulumi/pulumi";
import type { JsonObject } from "../../core/merge";
import { mergeObjects } from "../../core/merge";
import { cloudConf } from "../../core/openstack/cloud-conf";
import type { CloudPlan } from "../../providers/openstack/cloud-plan";
import type { KubeadmClusterArgs } from "../kubeadm/kubeadm-cluster-args";

const REPOSITORY = "https://kubernetes.github.io/cloud-provider-openstack";
const NAMESPACE = "kube-system";
const SECRET = "cloud-config";

/** The charts, at the releases that belong together. */
const CHARTS = [
  {
    name: "openstack-cloud-controller-manager",
    version: "2.36.5",
    values: (cluster: string) => ({
      cluster: { name: cluster },
      secret: { enabled: true, create: false, name: SECRET },
      nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      tolerations: [
        { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
        { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
      ],
    }),
  },
  {
    name: "openstack-cinder-csi",
    version: "2.36.2",
    values: (cluster: string) => ({
      clusterID: cluster,
      secret: { enabled: true, create: false, name: SECRET, filename: "cloud.conf" },
    }),
  },
] as const;

/** kubeadm's objects with kubelets that leave the cloud's part of a Node to the cloud controller manager. */
export function withExternalCloudProvider(
  kubeadm: KubeadmClusterArgs["kubeadm"] = {},
): NonNullable<KubeadmClusterArgs["kubeadm"]> {
  const external: JsonObject = {
    nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] },
  };
  return {
    ...kubeadm,
    initConfiguration: mergeObjects(external, kubeadm.initConfiguration),
    joinConfiguration: mergeObjects(external, kubeadm.joinConfiguration),
  };
}

export interface CloudAddonsArgs {
  kubeconfig: pulumi.Output<string>;
  found: CloudPlan["found"];
  region?: string;
  applicationCredential?: pulumi.Input<{ id: string; secret: string }>;
}

/** The cloud controller manager and the Cinder CSI driver, with an application credential for this cluster alone. */
export function installCloudAddons(
  cluster: string,
  args: CloudAddonsArgs,
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
): void {
  // loaded only here: a cluster without them does not pay for the Kubernetes SDK
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { Provider } = require("@pulumi/kubernetes/provider") as typeof import("@pulumi/kubernetes/provider");
  const { Secret } =
    require("@pulumi/kubernetes/core/v1/secret") as typeof import("@pulumi/kubernetes/core/v1/secret");
  const { Chart } =
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const credential = pulumi.output(args.applicationCredential ?? makeCredential(cluster, opts));
  const { provider: _, ...others } = opts;
  const provider = new Provider(
    `${cluster}-cloud-provider`,
    { kubeconfig: args.kubeconfig, clusterIdentifier: cluster, enableServerSideApply: true },
    others,
  );
  const inCluster = { ...others, provider };
  const text = pulumi.secret(
    pulumi.all([args.found, credential]).apply(([{ authUrl, externalNetworkId }, applicationCredential]) =>
      cloudConf({
        authUrl,
        applicationCredential,
        ...(args.region === undefined ? {} : { region: args.region }),
        ...(externalNetworkId === undefined ? {} : { externalNetworkId }),
      }),
    ),
  );
  const secret = new Secret(
    `${cluster}-cloud-config`,
    { metadata: { name: SECRET, namespace: NAMESPACE }, stringData: { "cloud.conf": text } },
    inCluster,
  );
  for (const { name, version, values } of CHARTS) {
    new Chart(
      `${cluster}-${name}`,
      {
        chart: name,
        version,
        namespace: NAMESPACE,
        repositoryOpts: { repo: REPOSITORY },
        values: values(cluster),
        // its pods become ready only when the nodes that are about to join are there
        skipAwait: true,
      },
      { ...inCluster, dependsOn: [secret] },
    );
  }
}

function makeCredential(cluster: string, opts: pulumi.CustomResourceOptions) {
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { ApplicationCredential } =
    require("@pulumi/openstack/identity/applicationCredential") as typeof import("@pulumi/openstack/identity/applicationCredential");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const { parent, provider } = opts;
  const { id, secret } = new ApplicationCredential(
    `${cluster}-cloud-provider`,
    { name: `foresail-${cluster}`, description: `cloud provider of the cluster ${cluster}` },
    { ...(parent ? { parent } : {}), ...(provider ? { provider } : {}), additionalSecretOutputs: ["secret"] },
  );
  return pulumi.all([id, secret]).apply(([credentialId, value]) => ({ id: credentialId, secret: value }));
}
