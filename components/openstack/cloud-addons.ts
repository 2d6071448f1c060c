import * as pulumi from "@pulumi/pulumi";
import { ApplicationCredential } from "@pulumi/openstack/identity/applicationCredential";
import { mergeObjects, type JsonObject } from "../../lib/merge";
import { whenMade } from "../../lib/pulumi/left-out";
import { shortHash } from "../../lib/short-hash";
import { cloudConf } from "../../providers/openstack/plan/cloud-conf";
import { cloudProviderResource } from "../../providers/openstack/plan/recorded-state";
import type { CloudPlan } from "../../providers/openstack/resources/declarations";
import type { CheckedArgs } from "../kubeadm/kubeadm-cluster-args";
import type { CloudObjects } from "./cloud-objects";
import type { CloudProviderArgs } from "./openstack-cluster-args";

const REPOSITORY = "https://kubernetes.github.io/cloud-provider-openstack";
const NAMESPACE = "kube-system";
const SECRET = "cloud-config";

/**
 * Each part's chart, at releases that match each other. The annotation of pods is a hash that changes with cloud.conf,
 * so that the pods restart: they read the file only at start.
 */
const CHARTS = {
  cloudControllerManager: {
    name: "openstack-cloud-controller-manager",
    version: "2.36.5",
    values: (cluster: string, podAnnotations: JsonObject): JsonObject => ({
      podAnnotations,
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
    values: (cluster: string, podAnnotations: JsonObject): JsonObject => ({
      csi: { plugin: { nodePlugin: { podAnnotations }, controllerPlugin: { podAnnotations } } },
      clusterID: cluster,
      secret: { enabled: true, create: false, name: SECRET, filename: "cloud.conf" },
    }),
  },
};

/** Returns kubeadm's objects with kubelets that leave cloud fields of a Node to the cloud controller manager. */
export function withExternalCloudProvider(kubeadm: CheckedArgs["kubeadm"]): CheckedArgs["kubeadm"] {
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

/** Returns the location of a chart; an oci:// repository is part of the chart's name. */
function chartSource(repository: string, name: string) {
  return repository.startsWith("oci://")
    ? { chart: `${repository.replace(/\/+$/, "")}/${name}` }
    : { chart: name, repositoryOpts: { repo: repository } };
}

/**
 * Installs the cloud controller manager and the Cinder CSI driver, with a given or new application credential.
 *
 * @param existence the resource that exists as long as the cluster does
 */
export function installCloudAddons(
  objects: CloudObjects,
  cloudProvider: CloudProviderArgs,
  found: CloudPlan["found"],
  kubeconfig: pulumi.Output<string>,
  parent: pulumi.Resource,
  existence: pulumi.Resource,
): void {
  // Loaded here, so that a cluster without these add-ons does not load the Kubernetes SDK.
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { Provider } = require("@pulumi/kubernetes/provider") as typeof import("@pulumi/kubernetes/provider");
  const { Secret } =
    require("@pulumi/kubernetes/core/v1/secret") as typeof import("@pulumi/kubernetes/core/v1/secret");
  const { Chart } =
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const { cluster } = objects;
  const { applicationCredential, cloudConf: sections, repository = REPOSITORY } = cloudProvider;
  const opts = { parent, deletedWith: existence, dependsOn: [existence] };
  const credential = pulumi.output(applicationCredential ?? makeCredential(objects, parent, existence));
  const provider = new Provider(
    cloudProviderResource(cluster),
    { kubeconfig, clusterIdentifier: cluster, enableServerSideApply: true },
    opts,
  );
  const text = credential.apply((known) =>
    whenMade(found, (cloud) => cloudConf({ ...cloud, applicationCredential: known, sections })),
  );
  const secret = new Secret(
    `${cluster}-cloud-config`,
    {
      metadata: { name: SECRET, namespace: NAMESPACE },
      stringData: { "cloud.conf": pulumi.secret(text) },
    },
    { ...opts, provider },
  );
  const settings = settingsOf(found, cloudProvider);
  for (const part of ["cloudControllerManager", "cinder"] as const) {
    if (part === "cinder" && !wantsCinder(cloudProvider)) continue;
    const { name, version, values } = CHARTS[part];
    const desired = cloudProvider[part];
    // Without any annotation, both charts write `annotations: null`, which Pulumi's Chart refuses.
    const commonAnnotations = { "foresail/cluster": cluster };
    new Chart(
      `${cluster}-${name}`,
      {
        ...chartSource(repository, name),
        version: desired?.version ?? version,
        namespace: NAMESPACE,
        values: settings.apply((hash) => {
          const own = values(cluster, { "foresail/cloud-conf": hash });
          return mergeObjects({ commonAnnotations, ...own }, desired?.values);
        }),
        // The pods become ready only after the remaining nodes have joined.
        skipAwait: true,
      },
      { ...opts, provider, dependsOn: [secret] },
    );
  }
}

/** Returns a hash of cloud.conf's inputs; the stack's own credential is left out, because it never changes. */
function settingsOf(found: CloudPlan["found"], cloudProvider: CloudProviderArgs): pulumi.Output<string> {
  const { applicationCredential, cloudConf: sections = {} } = cloudProvider;
  const hash = pulumi
    .output(applicationCredential)
    .apply((given) =>
      whenMade(found, ({ authUrl, region = "", externalNetworkId = "" }) =>
        shortHash([authUrl, region, externalNetworkId, given?.id ?? "", JSON.stringify(sections)]),
      ),
    );
  return pulumi.unsecret(hash);
}

function makeCredential(objects: CloudObjects, parent: pulumi.Resource, existence: pulumi.Resource) {
  const { cluster, opts } = objects;
  const { id, secret } = new ApplicationCredential(
    cloudProviderResource(cluster),
    { name: objects.named(`foresail-${cluster}`), description: `cloud provider of the cluster ${cluster}` },
    { ...opts, parent, dependsOn: [existence], additionalSecretOutputs: ["secret"] },
  );
  return pulumi.all([id, secret]).apply(([credentialId, value]) => ({ id: credentialId, secret: value }));
}
