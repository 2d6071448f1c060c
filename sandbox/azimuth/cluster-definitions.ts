/**
 * The custom resources that azimuth-capi-operator installs: names, scopes, schemas and columns as of commit 1c7d83e.
 */
import type { NewObject } from "../../lib/kubernetes";
import {
  anything,
  column,
  filled,
  flag,
  type KindInGroup,
  kindsOf,
  list,
  map,
  matching,
  object,
  openObject,
  optional,
  phase,
  positive,
  text,
  time,
  uri,
  whole,
  wide,
} from "./schema";
import { leasePhase } from "./tenancy-definitions";

const azimuth = kindsOf("azimuth.stackhpc.com");

const CLUSTER_PHASES = ["Pending", "Reconciling", "Upgrading", "Ready", "Deleting", "Unhealthy", "Failed"];
const NETWORKING_PHASES = ["Pending", "Provisioning", "Provisioned", "Deleting", "Failed"];
const CONTROL_PLANE_PHASES = ["Pending", "ScalingUp", "ScalingDown", "Upgrading", "Ready", "Deleting"];
const NODE_PHASES = ["Pending", "Provisioning", "Ready", "Deleting", "Deleted", "Unhealthy", "Failed"];
const ADDON_PHASES = ["Pending", "Preparing", "Deployed", "Failed", "Installing", "Upgrading"];

const nodeGroup = object(
  {
    name: filled,
    machineSize: filled,
    autoscale: flag,
    count: optional(whole(0)),
    minCount: optional(whole(1)),
    maxCount: optional(whole(1)),
  },
  "name",
  "machineSize",
);

const clusterSpec = object(
  {
    label: filled,
    templateName: filled,
    cloudCredentialsSecretName: filled,
    zenithIdentityRealmName: optional(filled),
    leaseName: optional(filled),
    paused: flag,
    autohealing: flag,
    controlPlaneMachineSize: filled,
    nodeGroups: list(nodeGroup),
    addons: object({
      dashboard: flag,
      ingress: flag,
      ingressControllerLoadBalancerIp: optional({ ...text, format: "ipv4" }),
      monitoring: flag,
      monitoringAlertmanagerVolumeSize: positive,
      monitoringPrometheusVolumeSize: positive,
      monitoringLokiVolumeSize: positive,
    }),
    createdByUsername: optional(text),
    createdByUserId: optional(text),
    updatedByUsername: optional(text),
    updatedByUserId: optional(text),
  },
  "label",
  "templateName",
  "cloudCredentialsSecretName",
  "controlPlaneMachineSize",
);

const node = object({
  role: phase("control-plane", "worker"),
  phase: phase(...NODE_PHASES),
  size: optional(filled),
  ip: optional(text),
  ips: list(text),
  kubeletVersion: optional(text),
  nodeGroup: optional(text),
  created: optional(time),
});

const service = object(
  { subdomain: filled, fqdn: filled, label: filled, iconUrl: optional(uri), description: optional(text) },
  "subdomain",
  "fqdn",
  "label",
);

const clusterStatus = openObject({
  kubernetesVersion: optional(text),
  kubeconfigSecretName: optional(text),
  phase: phase(...CLUSTER_PHASES),
  leasePhase,
  networkingPhase: phase(...NETWORKING_PHASES),
  controlPlanePhase: phase(...CONTROL_PLANE_PHASES, "Unhealthy", "Failed"),
  nodeCount: whole(),
  nodes: map(node),
  addonCount: whole(),
  addons: map(object({ phase: phase(...ADDON_PHASES, "Uninstalling"), revision: whole(0) })),
  services: map(service),
  lastUpdated: optional(time),
});

const VERSION_PART = "(0|[1-9]\\d*)";
const VERSION = `${VERSION_PART}\\.${VERSION_PART}\\.${VERSION_PART}(?:-[a-zA-Z0-9.-]+)?(?:\\+[a-zA-Z0-9.-]+)?`;
const VERSION_BOUND = `(?:==|!=|>=?|<=?|~)v?${VERSION}`;

const appTemplate: KindInGroup = {
  kind: "AppTemplate",
  plural: "apptemplates",
  clusterScoped: true,
  spec: object(
    {
      chart: object({ repo: uri, name: matching("^[a-z0-9-]+$") }, "repo", "name"),
      label: text,
      logo: text,
      description: text,
      versionRange: matching(`^${VERSION_BOUND}(?:,${VERSION_BOUND})*$`),
      keepVersions: positive,
      syncFrequency: positive,
      defaultValues: map(anything),
    },
    "chart",
  ),
  status: openObject({
    label: optional(filled),
    logo: optional(filled),
    description: optional(filled),
    versions: list(
      object(
        { name: matching(`^v?${VERSION}$`), valuesSchema: map(anything), uiSchema: map(anything) },
        "name",
      ),
    ),
    lastSync: optional(time),
  }),
  columns: [
    column("Chart name", ".spec.chart.name"),
    column("Version range", ".spec.versionRange"),
    column("Keep versions", ".spec.keepVersions", { type: "integer", ...wide }),
    column("Sync freq.", ".spec.syncFrequency", { type: "integer", ...wide }),
    column("Label", ".status.label"),
    column("Last sync", ".status.lastSync", { type: "date" }),
  ],
};

/** The definitions that azimuth-capi-operator installs. */
export const CLUSTER_DEFINITIONS: readonly NewObject[] = [
  azimuth({
    kind: "Cluster",
    plural: "clusters",
    spec: clusterSpec,
    status: clusterStatus,
    columns: [
      column("Label", ".spec.label"),
      column("Template", ".spec.templateName"),
      column("Kubernetes Version", ".status.kubernetesVersion"),
      column("Paused", ".spec.paused", { type: "boolean" }),
      column("Phase", ".status.phase"),
      column("Control Plane", ".status.controlPlanePhase", wide),
      column("Node Count", ".status.nodeCount", { type: "integer" }),
      column("Addon Count", ".status.addonCount", { type: "integer", ...wide }),
    ],
  }),
  azimuth({
    kind: "ClusterTemplate",
    plural: "clustertemplates",
    clusterScoped: true,
    spec: object(
      {
        label: filled,
        deprecated: flag,
        description: filled,
        tags: list(filled),
        values: openObject(
          { kubernetesVersion: filled, machineImageId: filled },
          "kubernetesVersion",
          "machineImageId",
        ),
      },
      "label",
      "description",
      "values",
    ),
    status: null,
    columns: [
      column("Label", ".spec.label"),
      column("Kubernetes Version", ".spec.values.kubernetesVersion"),
      column("Deprecated", ".spec.deprecated", { type: "boolean" }),
    ],
  }),
  azimuth(appTemplate),
];
