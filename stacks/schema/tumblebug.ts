import { z } from "zod";
import { cidrIssue } from "../../lib/validation/cidr";
import { certificateBundleIssue } from "../../lib/validation/keys";
import { dnsLabelIssue, userNameIssue } from "../../lib/validation/names";
import { tumblebugNameIssue } from "../../providers/tumblebug/plan/names";
import { TumblebugEndpoint } from "./network";
import { MachineLabels, MachineRole, MachineTaints } from "./machine";
import { sectionRules, type ReadableBase } from "./cluster-rules";
import { below, type ValidationIssue } from "../../lib/validation/validation-issue";
import { networkOf } from "../../providers/kubeadm/plan/defaults";
import { nodeNames, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import { nodeGroupOf } from "../../providers/tumblebug/plan/groups";
import { machinesOf, tumblebugIssues } from "../../providers/tumblebug/plan/validation";
import type { Readable } from "./check";
import {
  API_ACCESS,
  flag,
  line,
  MOST_GROUPS,
  MOST_MACHINES,
  POOL_SIZE,
  seconds,
  SSH_ACCESS,
  text,
  url,
  whole,
} from "./rule";

const named = () => text(tumblebugNameIssue);
const block = () => text(cidrIssue);
const blocks = () => z.array(z.string());

const Group = z.strictObject({
  name: named().describe("Name of the group; its machines are <name>-<index>."),
  role: MachineRole.describe("What the machines do in the cluster; one group has the control planes."),
  connection: line().describe("Connection in which the machines are made: one of `connections`."),
  replicas: whole(1, MOST_MACHINES).describe(POOL_SIZE),
  spec: line().describe(
    'Machine type, as the cloud calls it: "t3.medium". A new one holds for new machines.',
  ),
  image: line().describe("Image, as the cloud calls it. A new one holds for new machines."),
  rootVolume: z
    .strictObject({
      type: line()
        .optional()
        .describe("Kind of the volume, as the cloud calls it; when absent, its default."),
      sizeGiB: whole(1, 65_536)
        .optional()
        .describe("Size of the volume in GiB; when absent, the cloud's default."),
    })
    .optional()
    .describe("The volume that the machines boot from."),
  labels: MachineLabels.default({}).describe("Labels of the Nodes, beside those of region, zone and cloud."),
  taints: MachineTaints.default([]).describe("Taints of the Nodes."),
});

const Access = z.strictObject({
  ssh: blocks().min(1).describe(SSH_ACCESS),
  api: blocks().describe(API_ACCESS),
  nodePorts: blocks().default([]).describe("IPv4 blocks that may open node ports."),
  nodes: blocks()
    .default([])
    .describe("IPv4 blocks that the nodes of other connections come from, when they talk over the Internet."),
  open: flag(false, "Accept 0.0.0.0/0 in these lists."),
});

/** Schema of `foresail:tumblebug`. */
export const TumblebugSection = z.strictObject({
  address: url(["http", "https"]).describe(
    'The server, with the path: "http://tumblebug.example.org:1323/tumblebug".',
  ),
  generation: z
    .enum(["auto", "mcis", "infra"])
    .default("auto")
    .describe('Its API: "mcis" of the releases 0.7 to 0.9, "infra" of today\'s, or as it turns out.'),
  caBundle: text(certificateBundleIssue)
    .optional()
    .describe("PEM certificates to trust for the server besides those of the system."),
  namespace: named().describe("Namespace of the server that holds everything the stack makes."),
  createNamespace: flag(false, "Make the namespace unless it is there; one that was there stays."),
  infrastructure: named()
    .optional()
    .describe("Name of the MCIS, or infra as it is called today; when absent, the cluster's name."),
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
    .describe("The regions of clouds that machines are made in, as the server has them."),
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
  endpoint: TumblebugEndpoint.prefault({ loopback: {} }).describe(
    "How the nodes reach the API: exactly one.",
  ),
  access: Access.describe("Who may reach the machines."),
  resources: z
    .strictObject({
      prefix: named()
        .optional()
        .describe(
          "First word of the names of VNets, security groups, keys, specs and images; when absent, the cluster's name. Clusters with the same share them.",
        ),
      keepOnDelete: flag(false, "Leave them when the cluster goes; those that others made stay in any case."),
    })
    .prefault({})
    .describe("The objects that VMs are made from."),
  user: text(userNameIssue)
    .default("cb-user")
    .describe("User that the server makes on the machines, with sudo."),
  replace: z
    .record(z.string(), whole(0))
    .default({})
    .describe("Machine → a number; a higher number has another machine made in its place: {w-2: 1}."),
  lost: z
    .array(text((name) => dnsLabelIssue(name)))
    .default([])
    .describe("Names of machines whose VMs are gone, so that nobody waits for them to leave."),
  timeouts: z
    .strictObject({
      machinesSeconds: seconds().default(2400).describe("Until the VMs have come up, or are gone."),
    })
    .prefault({})
    .describe("Deadlines, in seconds."),
  allowMock: flag(false, "Accept connections to CB-Spider's simulated clouds, for tests."),
});
export type TumblebugSection = z.output<typeof TumblebugSection>;

/** Checks the rules that depend on several fields of `foresail:tumblebug` and on the cluster. */
export function tumblebugRules(
  section: Readable<TumblebugSection>,
  cluster: ReadableBase,
): ValidationIssue[] {
  const { groups = [], replace = {} } = section;
  const network = networkOf(cluster.network);
  const plugin = Object.keys(cluster.network?.plugin ?? {})[0] ?? "";
  const pools = groups.map(({ name = "", role = "worker" }) => nodeGroupOf({ name, role }));
  const nodes = nodeNames(machinesOf(groups, replace));
  return [
    ...below(["tumblebug"], tumblebugIssues(section, { ...network, name: cluster.name, plugin })),
    ...below(["cluster", "rollout"], rolloutIssues(cluster.rollout, pools, nodes)),
    ...below(["tumblebug"], sectionRules(section.endpoint, "groups", groups, network)),
  ];
}
