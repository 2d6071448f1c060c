import * as pulumi from "@pulumi/pulumi";
import type { JsonObject } from "../../lib/merge";
import { whenMade } from "../../lib/pulumi/left-out";
import { mergeObjects } from "../../lib/merge";
import { cloudConf } from "../../providers/openstack/plan/cloud-conf";
import { markedName } from "../../providers/openstack/plan/leftovers";
import { shortHash } from "../../lib/short-hash";
import type { CloudPlan } from "../../providers/openstack/resources/cloud-plan";
import type { KubeadmClusterArgs } from "../kubeadm/kubeadm-cluster-args";
import type { CloudProviderArgs } from "./openstack-cluster-args";
import { cloudProviderResource } from "../../providers/openstack/plan/recorded-state";

const REPOSITORY = "https://kubernetes.github.io/cloud-provider-openstack";
const NAMESPACE = "kube-system";
const SECRET = "cloud-config";

/** A Helm chart, at a release that matches those of the other charts. */
interface CloudChart {
  name: string;
  version: string;
  /** @param settings hash that changes with cloud.conf, so that the pods restart: they read the file only at start */
  values: (cluster: string, settings: string) => JsonObject;
}

const CHARTS: Readonly<Record<"cloudControllerManager" | "cinder", CloudChart>> = {
  cloudControllerManager: {
    name: "openstack-cloud-controller-manager",
    version: "2.36.5",
    values: (cluster, settings) => ({
      ...annotated(cluster),
      podAnnotations: settingsAnnotation(settings),
      cluster: { name: cluster },
      secret: { enabled: true, create: false, name: SECRET },
      nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      tolerations: [
        { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
        { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
      ],
    }),
  },
  cinder: {
    name: "openstack-cinder-csi",
    version: "2.36.2",
    values: (cluster, settings) => ({
      ...annotated(cluster),
      csi: {
        plugin: {
          nodePlugin: { podAnnotations: settingsAnnotation(settings) },
          controllerPlugin: { podAnnotations: settingsAnnotation(settings) },
        },
      },
      clusterID: cluster,
      secret: { enabled: true, create: false, name: SECRET, filename: "cloud.conf" },
    }),
  },
};

/** Returns one annotation, because without any both charts write `annotations: null`, which Pulumi's Chart refuses. */
function annotated(cluster: string): JsonObject {
  return { commonAnnotations: { "foresail/cluster": cluster } };
}

function settingsAnnotation(settings: string): JsonObject {
  return { "foresail/cloud-conf": settings };
}

/** Returns kubeadm's objects with kubelets that leave cloud fields of a Node to the cloud controller manager. */
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

/** Whether the Cinder CSI driver is installed. */
export function wantsCinder({ enabled, cinder }: CloudProviderArgs): boolean {
  return enabled && (cinder?.enabled ?? true);
}

/** Whether the stack creates an application credential for the cloud provider in the cluster. */
export function makesCredential({ enabled, applicationCredential }: CloudProviderArgs): boolean {
  return enabled && applicationCredential === undefined;
}

/** Returns the location of a chart; an oci:// repository is part of the chart's name. */
function chartSource(repository: string, name: string): { chart: string; repositoryOpts?: { repo: string } } {
  return repository.startsWith("oci://")
    ? { chart: `${repository.replace(/\/+$/, "")}/${name}` }
    : { chart: name, repositoryOpts: { repo: repository } };
}

export interface CloudAddonsArgs {
  kubeconfig: pulumi.Output<string>;
  found: CloudPlan["found"];
  /** Owner tag: distinguishes this stack's objects from those of another cluster with the same name. */
  mark: pulumi.Input<string>;
  cloudProvider: CloudProviderArgs;
}

/** Installs the cloud controller manager and the Cinder CSI driver, with a given or new application credential. */
export function installCloudAddons(
  cluster: string,
  args: CloudAddonsArgs,
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
): void {
  // Loaded here, so that a cluster without these add-ons does not load the Kubernetes SDK.
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { Provider } = require("@pulumi/kubernetes/provider") as typeof import("@pulumi/kubernetes/provider");
  const { Secret } =
    require("@pulumi/kubernetes/core/v1/secret") as typeof import("@pulumi/kubernetes/core/v1/secret");
  const { Chart } =
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const credential = pulumi.output(
    args.cloudProvider.applicationCredential ?? makeCredential(cluster, args.mark, opts),
  );
  const { provider: _, ...others } = opts;
  const provider = new Provider(
    cloudProviderResource(cluster),
    { kubeconfig: args.kubeconfig, clusterIdentifier: cluster, enableServerSideApply: true },
    others,
  );
  const inCluster = { ...others, provider };
  const text = pulumi.secret(
    pulumi.all([args.found, credential]).apply(([found, applicationCredential]) =>
      whenMade(pulumi.output(found), ({ authUrl, region, externalNetworkId }) =>
        cloudConf({
          authUrl,
          applicationCredential,
          ...(region === undefined ? {} : { region }),
          ...(externalNetworkId === undefined ? {} : { externalNetworkId }),
          ...(args.cloudProvider.cloudConf ? { sections: args.cloudProvider.cloudConf } : {}),
        }),
      ),
    ),
  );
  const secret = new Secret(
    `${cluster}-cloud-config`,
    { metadata: { name: SECRET, namespace: NAMESPACE }, stringData: { "cloud.conf": text } },
    inCluster,
  );
  const { repository = REPOSITORY } = args.cloudProvider;
  const settings = settingsOf(args);
  for (const part of ["cloudControllerManager", "cinder"] as const) {
    if (part === "cinder" && !wantsCinder(args.cloudProvider)) continue;
    const { name, version, values } = CHARTS[part];
    const desired = args.cloudProvider[part];
    new Chart(
      `${cluster}-${name}`,
      {
        ...chartSource(repository, name),
        version: desired?.version ?? version,
        namespace: NAMESPACE,
        values: settings.apply((known) => mergeObjects(values(cluster, known), desired?.values)),
        // The pods become ready only after the remaining nodes have joined.
        skipAwait: true,
      },
      { ...inCluster, dependsOn: [secret] },
    );
  }
}

/** Returns a hash of cloud.conf's inputs; the stack's own credential is left out, because it never changes. */
function settingsOf({ found, cloudProvider }: CloudAddonsArgs): pulumi.Output<string> {
  const { applicationCredential, cloudConf: sections = {} } = cloudProvider;
  const word = pulumi
    .output(applicationCredential)
    .apply((given) =>
      whenMade(found, ({ authUrl, region, externalNetworkId }) =>
        shortHash([
          authUrl,
          region ?? "",
          externalNetworkId ?? "",
          given?.id ?? "",
          JSON.stringify(sections),
        ]),
      ),
    );
  return pulumi.unsecret(word);
}

function makeCredential(cluster: string, mark: pulumi.Input<string>, opts: pulumi.CustomResourceOptions) {
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { ApplicationCredential } =
    require("@pulumi/openstack/identity/applicationCredential") as typeof import("@pulumi/openstack/identity/applicationCredential");
  /* eslint-enable @typescript-eslint/no-require-imports */
  // The credential exists in the cloud, so deleting the cluster does not delete it.
  const { deletedWith: _, ...others } = opts;
  const { id, secret } = new ApplicationCredential(
    cloudProviderResource(cluster),
    {
      name: pulumi.output(mark).apply((known) => markedName(`foresail-${cluster}`, known)),
      description: `cloud provider of the cluster ${cluster}`,
    },
    { ...others, additionalSecretOutputs: ["secret"] },
  );
  return pulumi.all([id, secret]).apply(([credentialId, value]) => ({ id: credentialId, secret: value }));
}
