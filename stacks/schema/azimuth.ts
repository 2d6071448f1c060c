import { z } from "zod";
import { chartIssues, chartNameIssue, chartVersionIssue, digestIssue } from "../../lib/validation/charts";
import { dnsLabelIssue, objectNameIssue } from "../../lib/validation/names";
import { hostIssue, ipv4Issue } from "../../lib/validation/addresses";
import {
  DEFAULT_ROLE_NAME,
  DEFAULT_ROLE_RULES,
  NAMESPACE_ROLE_NAME,
} from "../../providers/azimuth/plan/cluster-values";
import { CHARTS, SSHD_PORT, TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import {
  dashboardIssues,
  loadBalancerAddressIssues,
  nodeGroupIssues,
  nodeGroupNameIssue,
  policyRuleIssues,
  recordIssues,
  userRoleIssues,
} from "../../providers/azimuth/plan/validation";
import { duplicateIssues } from "../../lib/validation/validation-issue";
import { VOLUME_SIZES } from "../../lib/validation/numbers";
import {
  anyValues,
  flag,
  line,
  MOST_MACHINES,
  port,
  rule,
  rules,
  seconds,
  takeOver,
  text,
  url,
  whole,
} from "./rule";
import { quoted } from "../../lib/text/quote";

const objectName = () => text(objectNameIssue);
const gigabytes = () => whole(...VOLUME_SIZES).default(10);
const machines = (fewest: number) => whole(fewest, MOST_MACHINES);
const values = () => z.record(z.string(), z.unknown());

const NodeGroup = rules(
  z.strictObject({
    name: text(nodeGroupNameIssue).describe("Name of the group; its machines carry it."),
    machineSize: line().describe("Flavor of the machines, by name."),
    autoscale: flag(false, "Whether the group scales by itself."),
    count: machines(0).optional().describe("Number of machines, of a group that does not scale by itself."),
    minCount: machines(1).optional().describe("Fewest machines of a group that scales by itself."),
    maxCount: machines(1).optional().describe("Most machines of a group that scales by itself."),
  }),
  nodeGroupIssues,
);

const Addons = rules(
  z.strictObject({
    dashboard: z
      .boolean()
      .optional()
      .describe(
        "Install Headlamp, with charts.cluster.version 0.27.0 or later; when absent, as the template says.",
      ),
    ingress: flag(false, "Install an ingress controller."),
    ingressControllerLoadBalancerIp: text(ipv4Issue)
      .optional()
      .describe("IPv4 address of the ingress controller's load balancer."),
    monitoring: flag(false, "Install Prometheus, Grafana and Loki."),
    monitoringAlertmanagerVolumeSize: gigabytes().describe("Volume of the Alertmanager, in GB."),
    monitoringPrometheusVolumeSize: gigabytes().describe("Volume of Prometheus, in GB."),
    monitoringLokiVolumeSize: gigabytes().describe("Volume of Loki, in GB."),
  }),
  loadBalancerAddressIssues,
);

function chart(kind: keyof typeof CHARTS, what: string) {
  const { chart: name, repository, version } = CHARTS[kind];
  return rules(
    z.strictObject({
      chart: rule(z.string().min(1).max(1000), chartNameIssue)
        .default(name)
        .describe("Name of the chart in the repository, its path, or an oci:// reference."),
      repository: url()
        .optional()
        .describe(`URL of the chart repository; for the chart ${quoted(name)} ${repository} when absent.`),
      version: text(chartVersionIssue).default(version).describe("Version of the chart."),
      digest: text(digestIssue)
        .optional()
        .describe(
          "Digest of the chart's archive in the repository, sha256:…; without it, it is not checked.",
        ),
    }),
    (value) => chartIssues(value.chart === name ? { repository, ...value } : value),
  )
    .prefault({})
    .describe(what);
}

const Charts = z.strictObject({
  cluster: chart("cluster", "The chart that creates the cluster with Cluster API."),
  zenithOperator: chart(
    "zenithOperator",
    "The chart of the operator that looks after the cluster's Zenith clients.",
  ),
  zenithApiServer: chart("zenithApiServer", "The chart of the tunnel to the cluster's API server."),
});

const Zenith = z.strictObject({
  registrarAdminUrl: url().describe("Address of the Zenith registrar at which names are reserved."),
  sshdHost: text(hostIssue).describe("Host of Zenith's SSH server, as the cluster's machines reach it."),
  sshdPort: port().default(SSHD_PORT).describe("Port of Zenith's SSH server."),
  projectId: line().describe("Id of the OpenStack project whose members may see the cluster's services."),
  apiserverDefaults: values()
    .optional()
    .describe("Helm values for the chart of the tunnel, below foresail's own."),
  operatorDefaults: values()
    .optional()
    .describe("Helm values for the chart of Zenith's operator, below foresail's own."),
});

const words = () => z.array(line()).min(1).optional();

const PolicyRules = z
  .array(
    rules(
      z.strictObject({
        apiGroups: z
          .array(z.string())
          .min(1)
          .optional()
          .describe('API groups; "" is the core group, "*" all.'),
        resources: words().describe('Resources; "*" for all.'),
        resourceNames: words().describe("Names of objects; when absent, all."),
        nonResourceURLs: words().describe("URL paths, instead of resources."),
        verbs: z.array(line()).min(1).describe('Verbs; "*" for all.'),
      }),
      policyRuleIssues,
    ),
  )
  .min(1);

const UserClusterRole = z.strictObject({
  name: line().default(DEFAULT_ROLE_NAME).describe("Name of the ClusterRole."),
  rules: PolicyRules.default([...DEFAULT_ROLE_RULES]).describe(
    "Rules of the ClusterRole; when absent, all rights, as Azimuth's own default role has them.",
  ),
});

const UserNamespaceRole = z.strictObject({
  name: line().default(NAMESPACE_ROLE_NAME).describe("Name of the ClusterRole and of its bindings."),
  namespaces: z.array(text(dnsLabelIssue)).min(1).describe("Namespaces of the cluster, which have to exist."),
  rules: PolicyRules.describe("Rules of the ClusterRole."),
});

const Identity = rules(
  z.strictObject({
    defaultClusterRole: z
      .string()
      .min(1)
      .optional()
      .describe("Existing ClusterRole that the users of the realm's groups get; when absent, none."),
    defaultUserClusterRole: UserClusterRole.optional().describe(
      "ClusterRole that is created in the cluster for those users; {} gives them all rights, as Azimuth does by default.",
    ),
    defaultUserNamespaceRole: UserNamespaceRole.optional().describe(
      "ClusterRole that is created for those users and bound in some namespaces.",
    ),
  }),
  userRoleIssues,
);

const Timeouts = z.strictObject({
  identitySeconds: seconds()
    .default(TIMEOUTS.identitySeconds)
    .describe("Until each of Realm, OIDCClient and Platform is ready."),
  leaseSeconds: seconds().default(TIMEOUTS.leaseSeconds).describe("Until the Lease is Active."),
  zenithSeconds: seconds().default(TIMEOUTS.zenithSeconds).describe("Until the Zenith registrar answers."),
  machinesSeconds: seconds()
    .default(TIMEOUTS.machinesSeconds)
    .describe("Until all machines are ready, with `waitForMachines`."),
  deletionSeconds: seconds()
    .default(TIMEOUTS.deletionSeconds)
    .describe("Until the cluster's machines are gone on a destroy."),
});

/** Schema of `foresail:azimuth`. */
export const AzimuthSection = rules(
  z.strictObject({
    name: text((name) => dnsLabelIssue(name, 40)).describe(
      "Name of the cluster, its Helm release and its Cluster objects.",
    ),
    label: line().optional().describe("Name that people see; when absent, `name`."),
    templateName: objectName().describe(
      "ClusterTemplate: the Kubernetes version, the image and more values.",
    ),
    controlPlaneMachineSize: line().describe("Flavor of the control planes, by name."),
    nodeGroups: rules(z.array(NodeGroup), (groups) => duplicateIssues(groups, ({ name }) => name, "name"))
      .default([])
      .describe("The worker machines, in groups that are alike."),
    autohealing: flag(true, "Replace machines that stay unhealthy."),
    addons: Addons.prefault({}).describe("What is installed in the cluster besides the network."),
    namespace: text(dnsLabelIssue).describe("Namespace of the tenancy, such as az-demo."),
    cloudCredentialsSecretName: objectName().describe("Secret with clouds.yaml, in the namespace."),
    zenithIdentityRealmName: objectName()
      .optional()
      .describe(
        "Realm in the namespace; when absent, the first one there. A cluster keeps the Realm that it has.",
      ),
    leaseName: objectName()
      .optional()
      .describe("Lease in the namespace, whose reserved flavors the machines get."),
    identity: Identity.nullable()
      .prefault({})
      .describe("How the cluster's users log in: by the realm; null for a cluster without OpenID Connect."),
    zenith: Zenith.optional().describe(
      "Reach the API server and the services through Zenith; when absent, the cluster has a load balancer.",
    ),
    charts: Charts.prefault({}).describe("The Helm charts, and where they come from."),
    values: anyValues("Helm values for the cluster's chart, below those of the template."),
    nodeGroupOverrides: z
      .record(z.string(), values())
      .default({})
      .describe('Pattern of a flavor, such as "gpu.*" → Helm values for node groups of it.'),
    record: flag(
      true,
      "Keep an Azimuth Cluster, paused, with the status of the cluster; false keeps a ConfigMap instead.",
    ),
    waitForMachines: flag(
      false,
      "Wait until the control plane and all machines are ready; the outputs `kubeconfig` and `phase` follow from it.",
    ),
    adopt: flag(false, "Take over objects and a Helm release that others than stacks made for this cluster."),
    takeOver: takeOver("the cluster", "objects"),
    timeouts: Timeouts.prefault({}).describe("Deadlines, in seconds."),
  }),
  (section) => [...recordIssues(section), ...dashboardIssues(section.addons, section.charts.cluster)],
);
export type AzimuthSection = z.output<typeof AzimuthSection>;
