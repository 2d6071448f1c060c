import { z } from "zod";
import { cidrIssue, ipv4Issue } from "../../lib/validation/addresses";
import { chartVersionIssue } from "../../lib/validation/charts";
import { cloudConfIssues } from "../../providers/openstack/plan/cloud-conf";
import { below, duplicateIssues, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { userDataIssue } from "../../providers/kubeadm/plan/validation/files";
import { dnsLabelIssue } from "../../lib/validation/names";
import { publicKeyBody, publicKeyIssue } from "../../lib/validation/keys";
import { VOLUME_SIZES } from "../../lib/validation/numbers";
import { OpenstackEndpoint } from "./network";
import { MachineLabels, MachineRole, MachineTaints } from "./machine";
import type { BaseCluster } from "./cluster";
import { blocksOf, sectionRules, settingRules } from "./cluster-rules";
import { readSshKey } from "./secrets";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/cluster/machine";
import { nodesOfPools, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import { slotOfMachine } from "../../providers/openstack/plan/machine";
import { openstackIssues, slotsOf } from "../../providers/openstack/plan/validation";
import type { Readable } from "../../lib/validation/check";
import {
  Access,
  anyValues,
  flag,
  line,
  MOST_GROUPS,
  MOST_MACHINES,
  POOL_SIZE,
  rule,
  rules,
  text,
  url,
  whole,
} from "./rule";

const block = () => text(cidrIssue);
/** Schema of a value that is stored in server metadata, where Nova allows 255 characters per value. */
const named = () => line(255);

const RootVolume = z.strictObject({
  sizeGiB: whole(...VOLUME_SIZES).describe("Size of the volume, in GiB."),
  type: line(200).optional().describe("Volume type; when absent, the cloud's default."),
});

const PoolInput = z.strictObject({
  name: text((name) => dnsLabelIssue(name, 40)).describe("Its machines are <name>-<index>-<hash>."),
  role: MachineRole.describe("What the machines do in the cluster; one pool has the control planes."),
  replicas: whole(0, MOST_MACHINES).describe(POOL_SIZE),
  flavor: named().describe("Flavor of the servers, by name or id."),
  image: named().describe("Image of the servers, by name or id."),
  zones: z
    .array(named())
    .default([])
    .describe("Availability zones, assigned in turn; when empty, the cloud chooses."),
  antiAffinity: z
    .enum(["soft", "strict", "none"])
    .default("soft")
    .describe("Put the machines on different hosts: where possible, always, or never."),
  rootVolume: RootVolume.optional().describe("Boot from a volume; when absent, from the flavor's own disk."),
  labels: MachineLabels.default({}).describe("Labels of the Nodes."),
  taints: MachineTaints.default([]).describe("Taints of the Nodes."),
  floatingIp: flag(false, "Give each machine a floating IP, by which SSH and the API are reached."),
  replacementsPerRun: whole(1, 100)
    .default(1)
    .describe("Machines that one run may replace; not for the control planes."),
});

const Network = z.strictObject({
  id: line(200)
    .optional()
    .describe("Id of a network that exists; when absent, the stack creates one with a router."),
  cidr: block()
    .default("10.20.0.0/24")
    .describe("IPv4 block of the machines: of the new subnet, or the one that the existing network has."),
  dnsNameservers: rules(z.array(text(ipv4Issue)), (list) => duplicateIssues(list, (address) => address))
    .default([])
    .describe("Name servers of the new subnet; when empty, the cloud's own."),
  externalNetwork: line()
    .optional()
    .describe("Network that leads outside, by name or id: for the router and for floating IPs."),
});

const chart = {
  version: text(chartVersionIssue)
    .optional()
    .describe("Version of the chart; when absent, the one that foresail was tested with."),
  values: anyValues("Values of the chart, over foresail's own."),
};

const CloudProvider = z.strictObject({
  enabled: flag(true, "Install the cloud controller manager and the Cinder CSI driver."),
  repository: url(["https", "http", "oci"])
    .optional()
    .describe("URL of the repository with both charts; when absent, that of the Kubernetes project."),
  cloudConf: rules(
    z.record(z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
    cloudConfIssues,
  )
    .default({})
    .describe("Settings of cloud.conf over foresail's own, by section: {LoadBalancer: {lb-provider: ovn}}."),
  cloudControllerManager: z
    .strictObject(chart)
    .prefault({})
    .describe("The chart openstack-cloud-controller-manager, for Nodes and load balancers."),
  cinder: z
    .strictObject({
      enabled: flag(true, "Install it; false in a cloud without Cinder."),
      ...chart,
    })
    .prefault({})
    .describe("The chart openstack-cinder-csi, for volumes."),
});

/** Schema of `foresail:openstack`. */
export const OpenstackSection = z.strictObject({
  cloud: line()
    .optional()
    .describe("Entry of clouds.yaml; when absent, $OS_CLOUD or the other OS_ variables."),
  region: line()
    .optional()
    .describe("Region of the cloud; when absent, that of clouds.yaml or $OS_REGION_NAME."),
  network: Network.describe("Network of the machines."),
  keypair: z
    .strictObject({
      publicKey: text(publicKeyIssue).describe(
        'Public half of foresail:sshPrivateKey or of the agent\'s key, "ssh-ed25519 AAAA…"; a change applies to new machines.',
      ),
    })
    .describe("The SSH key of new machines."),
  userData: rule(z.string().max(48_000), userDataIssue)
    .optional()
    .describe("User data for cloud-init; a change applies to new machines. Not secret."),
  pools: z.array(PoolInput).min(1).max(MOST_GROUPS).describe("The machines, in pools that are alike."),
  endpoint: OpenstackEndpoint.prefault({ loopback: {} }).describe("How nodes reach the API: exactly one."),
  access: Access.describe("Who may reach the machines from outside the cluster."),
  replace: z
    .record(z.string(), whole(0))
    .default({})
    .describe("Machine without its hash → a number; another number replaces it: {w-2: 1}."),
  cloudProvider: CloudProvider.prefault({}).describe(
    "Load balancers and volumes of the cloud, in the cluster.",
  ),
});
export type OpenstackSection = z.output<typeof OpenstackSection>;

interface OpenstackSections {
  openstack?: Readable<OpenstackSection>;
  cluster?: Readable<BaseCluster>;
}

/** Checks the rules that depend on several fields of `foresail:openstack` and on the cluster. */
export function openstackRules(
  { openstack: section = {}, cluster = {} }: OpenstackSections,
  privateKey?: unknown,
): ValidationIssue[] {
  const { pools = [], keypair } = section;
  const blocks = blocksOf(cluster);
  // Machine names end with a hash, which is unknown here.
  const slots = new Set(slotsOf(pools));
  const nodes = nodesOfPools(
    { has: () => false, known: [...slots].map((slot) => `${slot}-<hash>`) },
    pools.flatMap(({ name }) => name ?? []),
    (name) => (/-[0-9a-z]{5}$/.test(name) ? slotOfMachine(name) : undefined),
  );
  const groups = pools.flatMap(({ name, role }) =>
    role === "control-plane" ? CONTROL_PLANE_GROUP : (name ?? []),
  );
  return [
    ...below(["openstack"], openstackIssues(section, blocks)),
    ...issueAt(["openstack", "keypair", "publicKey"], keypairIssue(keypair?.publicKey, privateKey)),
    ...below(["cluster"], settingRules(cluster, groups)),
    ...below(["cluster", "rollout"], rolloutIssues(cluster.rollout, groups, nodes)),
    ...below(["openstack"], sectionRules(section.endpoint, "pools", pools, blocks, cluster.ssh?.port)),
  ];
}

/** Checks that the keypair's public key matches the private key, or else foresail can't log in to new machines. */
function keypairIssue(publicKey = "", privateKey: unknown = ""): string | undefined {
  const body = publicKeyBody(publicKey);
  const { publicHalf } = readSshKey(String(privateKey));
  if (body === undefined || publicHalf === undefined || body === publicHalf) return undefined;
  return "is not the public half of foresail:sshPrivateKey, so that no new machine would let foresail in; write the line that this prints: ssh-keygen -y -f FILE";
}
