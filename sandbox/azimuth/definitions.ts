/**
 * The custom resources of a management cluster with Azimuth, which its operators, Cluster API and the addon provider
 * would install. Azimuth's own have the real schemas. The others have real groups, versions, kinds and scopes; their
 * schemas contain only the fields that are used here, with the real validation rules.
 */
import type { NewObject } from "../../lib/kubernetes";
import { CLUSTER_DEFINITIONS } from "./cluster-definitions";
import { definition, filled, flag, list, object, open, optional, type Schema, text } from "./schema";
import { IDENTITY_DEFINITIONS, SCHEDULING_DEFINITIONS } from "./tenancy-definitions";

/** The definitions that Azimuth's own operators install. */
export const AZIMUTH_DEFINITIONS: readonly NewObject[] = [
  ...CLUSTER_DEFINITIONS,
  ...IDENTITY_DEFINITIONS,
  ...SCHEDULING_DEFINITIONS,
];

const addons = { group: "addons.stackhpc.com", version: "v1alpha1" };
const clusterApi = { group: "cluster.x-k8s.io", version: "v1beta1", spec: open };
const infrastructure = { group: "infrastructure.cluster.x-k8s.io", version: "v1beta1", spec: open };

const addonSpec = (own: Record<string, Schema>): Schema =>
  object(
    {
      clusterName: filled,
      bootstrap: flag,
      targetNamespace: filled,
      releaseName: optional(text),
      releaseTimeout: optional(text),
      lifecycleHooks: open,
      paused: flag,
      ...own,
    },
    "clusterName",
    "targetNamespace",
  );

/** The definitions that Cluster API, its OpenStack provider and the addon provider install. */
export const CLUSTER_API_DEFINITIONS: readonly NewObject[] = [
  definition({
    ...addons,
    kind: "HelmRelease",
    plural: "helmreleases",
    spec: addonSpec({
      chart: object({ repo: filled, name: filled, version: filled }, "repo", "name", "version"),
      valuesSources: list(open),
    }),
  }),
  definition({
    ...addons,
    kind: "Manifests",
    plural: "manifests",
    spec: addonSpec({ manifestSources: list(open) }),
  }),
  definition({ ...clusterApi, kind: "Cluster", plural: "clusters" }),
  definition({ ...clusterApi, kind: "Machine", plural: "machines" }),
  definition({ ...clusterApi, kind: "MachineDeployment", plural: "machinedeployments" }),
  definition({
    group: "controlplane.cluster.x-k8s.io",
    version: "v1beta1",
    kind: "KubeadmControlPlane",
    plural: "kubeadmcontrolplanes",
    spec: open,
  }),
  definition({
    group: "bootstrap.cluster.x-k8s.io",
    version: "v1beta1",
    kind: "KubeadmConfigTemplate",
    plural: "kubeadmconfigtemplates",
    spec: open,
  }),
  definition({ ...infrastructure, kind: "OpenStackCluster", plural: "openstackclusters" }),
  definition({ ...infrastructure, kind: "OpenStackMachine", plural: "openstackmachines" }),
  definition({ ...infrastructure, kind: "OpenStackMachineTemplate", plural: "openstackmachinetemplates" }),
];

/** The definitions that the Zenith operator's chart installs in the target cluster. */
export const ZENITH_DEFINITIONS: readonly NewObject[] = [
  definition({
    group: "zenith.stackhpc.com",
    version: "v1alpha1",
    kind: "Reservation",
    plural: "reservations",
    spec: object({ credentialSecretName: optional(text) }),
  }),
  definition({
    group: "zenith.stackhpc.com",
    version: "v1alpha1",
    kind: "Client",
    plural: "clients",
    spec: open,
  }),
];
