import * as pulumi from "@pulumi/pulumi";
import { SecGroup } from "@pulumi/openstack/networking/secGroup";
import { SecGroupRule } from "@pulumi/openstack/networking/secGroupRule";
import { markedDescription } from "../../lib/pulumi/marks";
import {
  securityRules,
  type SecurityGroupName,
  type SecurityRule,
  type DesiredSecurity,
} from "../../providers/openstack/plan/security-rules";

/** Ids of the cluster's security groups. */
export type SecurityGroups = Readonly<Record<SecurityGroupName, pulumi.Output<string>>>;

/** Returns the name of a cluster's security group in the cloud. */
export function securityGroupName(cluster: string, group: SecurityGroupName): string {
  return `${cluster}-${group}`;
}

/** Creates the two security groups and their rules. Servers depend on the returned rules. */
export function makeSecurityGroups(
  cluster: string,
  desired: DesiredSecurity,
  mark: pulumi.Input<string>,
  opts: pulumi.CustomResourceOptions,
): { groups: SecurityGroups; rules: pulumi.Resource[] } {
  const described = (words: string) => pulumi.output(mark).apply((known) => markedDescription(known, words));
  const group = (group: SecurityGroupName, words: string) => {
    const name = securityGroupName(cluster, group);
    return new SecGroup(name, { name, description: described(words) }, opts);
  };
  const made = {
    nodes: group("nodes", `every machine of the cluster ${cluster}`),
    "control-planes": group("control-planes", `the control planes of the cluster ${cluster}`),
  };
  const groups: SecurityGroups = { nodes: made.nodes.id, "control-planes": made["control-planes"].id };
  const rules = securityRules(desired).flatMap((rule) =>
    sourcesOf(rule, groups).map(
      ({ suffix, source }) =>
        new SecGroupRule(
          `${cluster}-${rule.group}-${rule.name}${suffix}`,
          {
            securityGroupId: groups[rule.group],
            direction: "ingress",
            ethertype: "IPv4",
            description: described(rule.why),
            ...(rule.protocol === undefined ? {} : { protocol: rule.protocol }),
            ...(rule.ports ? { portRangeMin: rule.ports[0], portRangeMax: rule.ports[1] } : {}),
            ...source,
          },
          // The cloud deletes a group's rules with the group; one by one, the provider would wait 5 s for each.
          { ...opts, deletedWith: made[rule.group] },
        ),
    ),
  );
  return { groups, rules };
}

function sourcesOf({ from }: SecurityRule, groups: SecurityGroups) {
  if ("group" in from) return [{ suffix: "", source: { remoteGroupId: groups[from.group] } }];
  return from.cidrs.map((cidr) => ({
    suffix: `-${cidr.replace("/", "-")}`,
    source: { remoteIpPrefix: cidr },
  }));
}
