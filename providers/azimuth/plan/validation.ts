import type { Renames } from "../../../lib/validation/renames";
import type { ValidationIssue } from "../../../lib/validation/validation-issue";
import { quoted } from "../../../lib/text/quote";
import type { PolicyRule } from "./cluster-values";
import { CHARTS } from "./defaults";
import type { ClusterAddons, GroupSpec } from "./objects";

/** Old names in `foresail:azimuth` and in the arguments of `AzimuthCluster`. */
export const AZIMUTH_RENAMES: Renames = {
  "timeouts.identity": "timeouts.identitySeconds",
  "timeouts.lease": "timeouts.leaseSeconds",
  "timeouts.zenith": "timeouts.zenithSeconds",
  "timeouts.deletion": "timeouts.deletionSeconds",
};

/** Returns the issue of a node group's name, as the chart openstack-cluster 0.27.0 validates it, or undefined. */
export function nodeGroupNameIssue(name: string): string | undefined {
  if (/^[a-z][a-z0-9-]+[a-z0-9]$/.test(name) && name.length <= 40) return undefined;
  return (
    `${quoted(name)} is not the name of a node group; write 3 to 40 lower-case letters, digits and dashes, ` +
    `with a letter first and a letter or digit last`
  );
}

/** Returns the issues of a node group's machine counts: a fixed count or a range, but not both. */
export function nodeGroupIssues(group: Omit<GroupSpec, "name" | "machineSize">): ValidationIssue[] {
  const { autoscale, count, minCount, maxCount } = group;
  const [fixed, range] = [Object.entries({ count }), Object.entries({ minCount, maxCount })];
  const [required, useless] = autoscale ? [range, fixed] : [fixed, range];
  const [missing, forbidden] = autoscale
    ? ["is missing; the group scales by itself", "is for a group that does not scale by itself; remove it"]
    : [
        "is missing; write how many machines",
        "is for a group that scales by itself; remove it, or write autoscale: true",
      ];
  const issues = [
    ...useless.flatMap(([field, value]) =>
      value === undefined ? [] : { path: [field], message: forbidden },
    ),
    ...required.flatMap(([field, value]) => (value === undefined ? { path: [field], message: missing } : [])),
  ];
  const isEmpty = autoscale && minCount !== undefined && maxCount !== undefined && maxCount < minCount;
  const message = `is ${maxCount}, less than minCount; write ${minCount} or more`;
  return isEmpty ? [...issues, { path: ["maxCount"], message }] : issues;
}

/** Returns the issue of a load balancer address without an ingress controller. */
export function loadBalancerAddressIssues(
  addons: Pick<ClusterAddons, "ingress" | "ingressControllerLoadBalancerIp">,
): ValidationIssue[] {
  if (addons.ingress || addons.ingressControllerLoadBalancerIp === undefined) return [];
  const message = "is for the ingress controller; remove it, or write ingress: true";
  return [{ path: ["ingressControllerLoadBalancerIp"], message }];
}

/** Minor version of the chart openstack-cluster (0.x) that has Headlamp first. */
const HEADLAMP_SINCE = 27;

/**
 * Returns the issue of Headlamp with a release of Azimuth's chart that does not have it and ignores its values.
 *
 * @param chart its source; a path or another chart may have Headlamp at any version
 */
export function dashboardIssues(
  { dashboard }: Pick<ClusterAddons, "dashboard">,
  { chart, version }: { chart?: string | undefined; version?: string | undefined } = {},
): ValidationIssue[] {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  const isOlder = Number(major) === 0 && Number(minor) < HEADLAMP_SINCE;
  if (dashboard !== true || (chart ?? CHARTS.cluster.chart) !== CHARTS.cluster.chart || !isOlder) return [];
  const message = `is Headlamp, which version ${version} of the chart does not have; write charts.cluster.version 0.${HEADLAMP_SINCE}.0 or later, or remove dashboard`;
  return [{ path: ["addons", "dashboard"], message }];
}

/** Returns the issues of a ClusterRole's rule, which has either resources or URL paths, as in the API server. */
export function policyRuleIssues({
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: Omit<PolicyRule, "verbs">): ValidationIssue[] {
  const ofResources = Object.entries({ apiGroups, resources, resourceNames });
  if (nonResourceURLs !== undefined)
    return ofResources
      .filter(([, value]) => value !== undefined)
      .map(([field]) => ({ path: [field], message: "can't be used with nonResourceURLs; write two rules" }));
  return ofResources
    .filter(([field, value]) => value === undefined && field !== "resourceNames")
    .map(([field]) => ({ path: [field], message: "is missing; write it, or nonResourceURLs" }));
}

/** Returns the issue of two default roles for users. */
export function userRoleIssues(identity: {
  defaultClusterRole?: string | undefined;
  defaultUserClusterRole?: object | undefined;
}): ValidationIssue[] {
  if (identity.defaultClusterRole === undefined || identity.defaultUserClusterRole === undefined) return [];
  const message = "can't be used with defaultUserClusterRole, which creates the role; remove one of them";
  return [{ path: ["defaultClusterRole"], message }];
}

/**
 * Returns the issue of a Lease without a record: a Lease ends by the deletion of its owner, and the schedule operator
 * may delete only the kind Cluster.
 */
export function recordIssues({
  record,
  leaseName,
}: {
  record: boolean;
  leaseName?: string | undefined;
}): ValidationIssue[] {
  if (record || leaseName === undefined) return [];
  const message =
    "is false, but a cluster with a lease needs its record: azimuth-schedule-operator may delete only Clusters when the lease ends; write true, or remove leaseName";
  return [{ path: ["record"], message }];
}
