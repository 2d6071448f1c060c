import type * as pulumi from "@pulumi/pulumi";
import { takeOverIssue } from "../../lib/ownership/owner";
import { plain } from "../../lib/pulumi/arguments";
import { hostIssue, ipv4Issue } from "../../lib/validation/addresses";
import {
  deadlineIssues,
  optionalTextAt,
  textAt,
  wholeNumberAt,
  wholeNumbersIn,
} from "../../lib/validation/arguments";
import { chartIssues, chartNameIssue, chartVersionIssue, digestIssue } from "../../lib/validation/charts";
import { kubeconfigIssue } from "../../lib/validation/kubeconfigs";
import { dnsLabelIssue, objectNameIssue, shortLineIssue } from "../../lib/validation/names";
import { MACHINES, PORTS, SECONDS, VOLUME_SIZES } from "../../lib/validation/numbers";
import { urlIssue } from "../../lib/validation/urls";
import { below, duplicateIssues, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import type { PolicyRule } from "../../providers/azimuth/plan/cluster-values";
import { CHARTS, TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import type { ClusterAddons, AzimuthSpec, GroupSpec } from "../../providers/azimuth/plan/objects";
import * as rules from "../../providers/azimuth/plan/validation";
import type { ZenithSettings } from "../../providers/azimuth/plan/zenith-values";
import {
  type AzimuthClusterArgs,
  type ChartSource,
  chartSource,
  type IdentityArgs,
  type TenancyArgs,
} from "./azimuth-cluster-args";

type Charts = typeof CHARTS;

/** Returns all issues of a cluster's plain arguments, by the same rules as for a stack's configuration. */
export function azimuthArgumentIssues(name: string, args: AzimuthClusterArgs): ValidationIssue[] {
  const { cluster, identity, zenith, charts = {}, record = true, timeouts = {} } = args;
  const kinds = Object.keys(charts) as (keyof Charts)[];
  return [
    ...textAt(["name"], name, (text) => dnsLabelIssue(text, 40)),
    ...tenancyIssues(args),
    ...below(["cluster"], specificationIssues(cluster)),
    ...below(["cluster"], rules.dashboardIssues(cluster.addons, charts.cluster)),
    ...below(["identity"], identityIssues(identity ?? {})),
    ...(zenith ? below(["zenith"], [...zenithIssues(zenith), ...projectIssues(zenith)]) : []),
    ...kinds.flatMap((kind) => below(["charts", kind], chartSourceIssues(kind, charts[kind]))),
    ...rules.recordIssues({ record, leaseName: cluster.leaseName }),
    ...optionalTextAt(["takeOver"], args.takeOver, takeOverIssue),
    ...below(["timeouts"], deadlineIssues(timeouts, TIMEOUTS)),
  ];
}

/** The arguments of the components that are parts of a cluster. */
interface PartArgs extends TenancyArgs {
  cluster?: string;
  realmName?: pulumi.Input<string> | undefined;
  leaseName?: string;
  zenith?: ZenithSettings;
  projectId?: string;
  takeOver?: string | undefined;
  timeoutSeconds?: number;
}

/** Returns all issues of a part's plain arguments. @param chart the part's chart with its source, if it has one */
export function partIssues(
  args: PartArgs,
  chart?: readonly [kind: keyof Charts, source: ChartSource | undefined],
): ValidationIssue[] {
  const { cluster, realmName, leaseName, zenith } = args;
  return [
    ...tenancyIssues(args),
    ...optionalTextAt(["cluster"], cluster, (text) => dnsLabelIssue(text, 40)),
    ...optionalTextAt(["realmName"], plain(realmName), objectNameIssue),
    ...optionalTextAt(["leaseName"], leaseName, objectNameIssue),
    ...optionalTextAt(["takeOver"], args.takeOver, takeOverIssue),
    ...(zenith ? below(["zenith"], zenithIssues(zenith)) : []),
    ...("projectId" in args ? projectIssues(args) : []),
    ...(chart ? below(["chart"], chartSourceIssues(...chart)) : []),
    ...wholeNumbersIn(args, { timeoutSeconds: SECONDS }),
  ];
}

/** Returns the issues of where a tenancy is. */
function tenancyIssues({ kubeconfig, namespace }: TenancyArgs): ValidationIssue[] {
  return [
    ...optionalTextAt(["kubeconfig"], plain(kubeconfig), kubeconfigIssue),
    ...textAt(["namespace"], namespace, (text) => dnsLabelIssue(text)),
  ];
}

function specificationIssues(cluster: AzimuthSpec): ValidationIssue[] {
  const { nodeGroups, addons } = cluster;
  return [
    ...textAt(["label"], cluster.label, shortLineIssue),
    ...textAt(["templateName"], cluster.templateName, objectNameIssue),
    ...textAt(["controlPlaneMachineSize"], cluster.controlPlaneMachineSize, shortLineIssue),
    ...textAt(["cloudCredentialsSecretName"], cluster.cloudCredentialsSecretName, objectNameIssue),
    ...optionalTextAt(["zenithIdentityRealmName"], cluster.zenithIdentityRealmName, objectNameIssue),
    ...optionalTextAt(["leaseName"], cluster.leaseName, objectNameIssue),
    ...nodeGroups.flatMap((group, index) => below(["nodeGroups", index], groupIssues(group))),
    ...below(
      ["nodeGroups"],
      duplicateIssues(nodeGroups, ({ name }) => name, "name"),
    ),
    ...below(["addons"], addonIssues(addons)),
  ];
}

const GROUP_SIZES = { count: MACHINES, minCount: [1, MACHINES[1]], maxCount: [1, MACHINES[1]] } as const;

function groupIssues(group: GroupSpec): ValidationIssue[] {
  return [
    ...textAt(["name"], group.name, rules.nodeGroupNameIssue),
    ...textAt(["machineSize"], group.machineSize, shortLineIssue),
    ...wholeNumbersIn(group, GROUP_SIZES),
    ...rules.nodeGroupIssues(group),
  ];
}

const ADDON_SIZES = {
  monitoringAlertmanagerVolumeSize: VOLUME_SIZES,
  monitoringPrometheusVolumeSize: VOLUME_SIZES,
  monitoringLokiVolumeSize: VOLUME_SIZES,
};

function addonIssues(addons: ClusterAddons): ValidationIssue[] {
  const { ingressControllerLoadBalancerIp } = addons;
  return [
    ...optionalTextAt(["ingressControllerLoadBalancerIp"], ingressControllerLoadBalancerIp, ipv4Issue),
    ...wholeNumbersIn(addons, ADDON_SIZES),
    ...rules.loadBalancerAddressIssues(addons),
  ];
}

function identityIssues(identity: IdentityArgs): ValidationIssue[] {
  const {
    defaultClusterRole,
    defaultUserClusterRole: role,
    defaultUserNamespaceRole: inNamespaces,
  } = identity;
  const isEmpty = (text: string) => (text === "" ? "must not be empty" : undefined);
  return [
    ...optionalTextAt(["defaultClusterRole"], defaultClusterRole, isEmpty),
    ...(role ? below(["defaultUserClusterRole"], roleIssues(role)) : []),
    ...(inNamespaces
      ? below(
          ["defaultUserNamespaceRole"],
          [
            ...roleIssues(inNamespaces),
            ...issueAt(["namespaces"], emptyIssue(inNamespaces.namespaces)),
            ...inNamespaces.namespaces.flatMap((name, index) =>
              textAt(["namespaces", index], name, (text) => dnsLabelIssue(text)),
            ),
          ],
        )
      : []),
    ...rules.userRoleIssues(identity),
  ];
}

const emptyIssue = (list: readonly unknown[]): string | undefined =>
  list.length === 0 ? "is empty; list at least one" : undefined;

function roleIssues({
  name,
  rules: given,
}: {
  name: string;
  rules: readonly PolicyRule[];
}): ValidationIssue[] {
  return [
    ...textAt(["name"], name, shortLineIssue),
    ...issueAt(["rules"], emptyIssue(given)),
    ...given.flatMap((rule, index) => [
      ...issueAt(["rules", index, "verbs"], emptyIssue(rule.verbs)),
      ...below(["rules", index], rules.policyRuleIssues(rule)),
    ]),
  ];
}

function projectIssues({ projectId }: { projectId?: string }): ValidationIssue[] {
  return textAt(["projectId"], projectId, shortLineIssue);
}

function zenithIssues(zenith: ZenithSettings): ValidationIssue[] {
  return [
    ...textAt(["registrarAdminUrl"], zenith.registrarAdminUrl, (text) => urlIssue(text)),
    ...textAt(["sshdHost"], zenith.sshdHost, hostIssue),
    ...wholeNumberAt(["sshdPort"], zenith.sshdPort, PORTS),
  ];
}

function chartSourceIssues(kind: keyof Charts, source: ChartSource | undefined): ValidationIssue[] {
  const { chart, repository, version, digest } = chartSource(kind, source);
  const known = {
    ...(repository === undefined ? {} : { repository }),
    ...(digest === undefined ? {} : { digest }),
  };
  return [
    ...textAt(["chart"], chart, (text) => (text === "" ? "must not be empty" : chartNameIssue(text))),
    ...optionalTextAt(["repository"], repository, (text) => urlIssue(text)),
    ...optionalTextAt(["version"], version, chartVersionIssue),
    ...optionalTextAt(["digest"], digest, digestIssue),
    ...chartIssues({ chart, ...known }),
  ];
}
