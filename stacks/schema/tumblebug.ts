import { z } from "zod";
import { cidrIssue } from "../../lib/validation/addresses";
import { certificateBundleIssue } from "../../lib/validation/keys";
import { dnsLabelIssue, userNameIssue } from "../../lib/validation/names";
import { tumblebugNameIssue } from "../../providers/tumblebug/plan/names";
import { TumblebugEndpoint } from "./network";
import { MachineLabels, MachineRole, MachineTaints } from "./machine";
import type { BaseCluster } from "./cluster";
import { blocksOf, sectionRules, settingRules } from "./cluster-rules";
import { below, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { VOLUME_SIZES } from "../../lib/validation/numbers";
import { nodeNames, nodesOfPools, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import { nodeGroupOf, slotOf } from "../../providers/tumblebug/plan/groups";
import { machinesOf, tumblebugIssues } from "../../providers/tumblebug/plan/validation";
import type { Readable } from "../../lib/validation/check";
import { Access, flag, line, MOST_GROUPS, MOST_MACHINES, POOL_SIZE, seconds, text, url, whole } from "./rule";

const named = () => text(tumblebugNameIssue);
const block = () => text(cidrIssue);

const Group = z.strictObject({
  name: named().describe("Name of the group; its machines are <name>-<index>."),
  role: MachineRole.describe("What the machines do in the cluster; one group has the control planes."),
  connection: line().describe("Connection of the machines: one of `connections`."),
  replicas: whole(1, MOST_MACHINES).describe(POOL_SIZE),
  spec: line().describe('Machine type in the cloud: "t3.medium". A change applies to new machines.'),
  image: line().describe("Image in the cloud. A change applies to new machines."),
  rootVolume: z
    .strictObject({
      type: line().optional().describe("Kind of the volume in the cloud; when absent, its default."),
      sizeGiB: whole(...VOLUME_SIZES)
        .optional()
        .describe("Size of the volume in GiB; when absent, the cloud's default."),
    })
    .optional()
    .describe("The volume that the machines boot from."),
  labels: MachineLabels.default({}).describe("Labels of the Nodes, beside those of region, zone and cloud."),
  taints: MachineTaints.default([]).describe("Taints of the Nodes."),
});

/** Schema of `foresail:tumblebug`. */
export const TumblebugSection = z.strictObject({
  address: url(["http", "https"]).describe(
    'The server, with the path: "https://tumblebug.example.org/tumblebug"; plain http to localhost only.',
  ),
  allowHttp: flag(
    false,
    "Accept plain http to another host in `address`, although the network then sees the credentials.",
  ),
  generation: z
    .enum(["auto", "mcis", "infra"])
    .default("auto")
    .describe('Its API: "mcis" of releases 0.7.0 to 0.8.7, "infra" since 0.12.9, or detected.'),
  caBundle: text(certificateBundleIssue)
    .optional()
    .describe("PEM certificates to trust for the server besides those of the system."),
  namespace: named().describe("Namespace of the server for all objects of the stack."),
  createNamespace: flag(false, "Create the namespace unless it exists; an existing one is never deleted."),
  infrastructure: named()
    .optional()
    .describe("Name of the MCIS, or infra in later releases; when absent, the cluster's name."),
  connections: z
    .array(
      z.strictObject({
        name: line().describe("Name of the connection on the server."),
        cidr: block()
          .optional()
          .describe("IPv4 block of the VNet there; when absent, a /24 of `network.cidr` by the name."),
      }),
    )
    .min(1)
    .describe("Connections of the server, each to a region of a cloud."),
  groups: z.array(Group).min(1).max(MOST_GROUPS).describe("The machines, in groups that are alike."),
  network: z
    .strictObject({
      cidr: block()
        .default("10.21.0.0/16")
        .describe("IPv4 block that the VNets without one of their own take theirs from."),
    })
    .prefault({})
    .describe("Addresses of the machines."),
  nodeAddresses: z
    .enum(["private", "public"])
    .optional()
    .describe(
      "By which addresses the nodes reach each other; when absent, private ones in one connection, public ones in several.",
    ),
  endpoint: TumblebugEndpoint.prefault({ loopback: {} }).describe("How nodes reach the API: exactly one."),
  access: Access.extend({
    nodes: z
      .array(z.string())
      .default([])
      .describe(
        "IPv4 blocks that the nodes of other connections come from, when they talk over the Internet.",
      ),
  }).describe("Who may reach the machines."),
  resources: z
    .strictObject({
      prefix: named()
        .optional()
        .describe(
          "Prefix of the names of VNets, security groups, keys, specs and images; when absent, the cluster's name. Clusters with the same prefix share them.",
        ),
      keepOnDelete: flag(
        false,
        "Keep them when the cluster is deleted; those that others created stay in any case.",
      ),
    })
    .prefault({})
    .describe("The objects that VMs are created from."),
  user: text(userNameIssue)
    .default("cb-user")
    .describe("User that the server creates on the machines, with sudo."),
  replace: z
    .record(z.string(), whole(0))
    .default({})
    .describe("Machine → a number; a higher one replaces the machine: {w-2: 1}."),
  lost: z
    .array(text((name) => dnsLabelIssue(name)))
    .default([])
    .describe("Names of machines whose VMs are gone, so that no run waits for them."),
  timeouts: z
    .strictObject({
      machinesSeconds: seconds().default(2400).describe("Until the VMs have come up, or are gone."),
    })
    .prefault({})
    .describe("Deadlines, in seconds."),
  allowMock: flag(false, "Accept connections to CB-Spider's simulated clouds, for tests."),
});
export type TumblebugSection = z.output<typeof TumblebugSection>;

/**
 * Checks the rules that depend on several fields of `foresail:tumblebug` and on the cluster.
 *
 * @param allowHttp path of that field for messages
 */
export function tumblebugRules(
  sections: { tumblebug?: Readable<TumblebugSection>; cluster?: Readable<BaseCluster> },
  allowHttp = "tumblebug.allowHttp",
): ValidationIssue[] {
  const { tumblebug: section = {}, cluster = {} } = sections;
  const { groups = [], replace = {} } = section;
  const network = blocksOf(cluster);
  const plugin = Object.keys(cluster.network?.plugin ?? {})[0] ?? "";
  const pools = groups.map(({ name = "", role = "worker" }) => nodeGroupOf({ name, role }));
  const names = groups.flatMap(({ name }) => name ?? []);
  const nodes = nodesOfPools(nodeNames(machinesOf(groups, replace)), names, slotOf);
  const unmet =
    "is true, but nothing tells the host keys of CB-Tumblebug's VMs before the first contact; remove it, or create the VMs yourself and use the system ssh";
  return [
    ...(cluster.ssh?.requireHostKeys ? issueAt(["cluster", "ssh", "requireHostKeys"], unmet) : []),
    ...below(["tumblebug"], tumblebugIssues(section, { ...network, name: cluster.name, plugin }, allowHttp)),
    ...below(["cluster"], settingRules(cluster, pools)),
    ...below(["cluster", "rollout"], rolloutIssues(cluster.rollout, pools, nodes)),
    ...below(["tumblebug"], sectionRules(section.endpoint, "groups", groups, network)),
  ];
}
