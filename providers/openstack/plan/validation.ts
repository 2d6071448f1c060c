import { slotNames } from "../../kubeadm/plan/machines/slots";
import { accessIssues, type AccessFacts, cidrSize, parseCidr } from "../../../lib/validation/addresses";
import { KUBEADM_CLUSTER_RENAMES } from "../../kubeadm/plan/cluster/defaults";
import { renamesBelow, type Renames } from "../../../lib/validation/renames";
import { below, issueAt, type ValidationIssue } from "../../../lib/validation/validation-issue";
import { poolIssues } from "../../kubeadm/plan/validation/machines";
import {
  machineBlockIssues,
  podBlockSizeIssues,
  type NetworkBlocks,
} from "../../kubeadm/plan/validation/network";
import { replaceIssues } from "../../kubeadm/plan/validation/replaced-machines";
import { quoted } from "../../../lib/text/quote";
import type { Pool } from "./machine";

/** Input of the rules for the section `openstack`; values that could not be read are absent. */
interface OpenstackFacts {
  pools?: readonly PoolFacts[];
  network?: { id?: string; cidr?: string; dnsNameservers?: readonly string[]; externalNetwork?: string };
  endpoint?: { octavia?: { floatingIp?: boolean } };
  replace?: Readonly<Record<string, unknown>>;
  access?: AccessFacts;
}

type PoolFacts = Partial<Pick<Pool, "name" | "role" | "replicas" | "floatingIp" | "replacementsPerRun">>;

/** Old names in `foresail:openstack`. */
export const OPENSTACK_RENAMES: Renames = {
  "network.dns": "network.dnsNameservers",
  "pools[].maxSurge": "pools[].replacementsPerRun",
  "pools[].rootVolume.size": "pools[].rootVolume.sizeGiB",
};

/** Old names in the arguments of `OpenstackCluster`. */
export const OPENSTACK_CLUSTER_RENAMES: Renames = {
  ...OPENSTACK_RENAMES,
  ...renamesBelow("cluster", KUBEADM_CLUSTER_RENAMES),
  publicKey: "keypair.publicKey",
};

/** Number of addresses of a subnet that machines can't use: network, broadcast, gateway, DHCP, router. */
const RESERVED_ADDRESSES = 5;

/**
 * Returns the validation issues of the section `openstack` as a whole; paths are relative to it.
 *
 * @param blocks CIDR blocks of pods and Services
 */
export function openstackIssues(section: OpenstackFacts, blocks: NetworkBlocks): ValidationIssue[] {
  const { pools = [], replace = {}, access } = section;
  return [
    ...poolIssues("pools", pools),
    ...pools.flatMap(({ role, replacementsPerRun = 1 }, index) =>
      role === "control-plane" && replacementsPerRun !== 1
        ? issueAt(
            ["pools", index, "replacementsPerRun"],
            "control planes are replaced one at a time; remove it",
          )
        : [],
    ),
    ...networkIssues(section, blocks),
    ...floatingIpIssues(section),
    // a pool that became smaller may have kept any of its slots, which the preview knows
    ...replaceIssues(
      Object.keys(replace).filter(
        (slot) => !pools.some(({ name }) => slot.replace(/-[1-9]\d*$/, "") === name),
      ),
      slotsOf(pools),
    ),
    ...accessIssues(access),
  ];
}

function networkIssues(
  { network: { id, cidr, dnsNameservers = [], externalNetwork } = {}, pools = [] }: OpenstackFacts,
  blocks: NetworkBlocks,
): ValidationIssue[] {
  const counts = pools.map(({ replicas = 1, replacementsPerRun = 1 }) => replicas + replacementsPerRun);
  const machines = counts.reduce((sum, count) => sum + count, 0);
  const block = cidr === undefined ? undefined : parseCidr(cidr);
  const room = block === undefined ? Infinity : Math.max(cidrSize(block) - RESERVED_ADDRESSES, 0);
  const issues: ValidationIssue[] = [...machineBlockIssues(cidr ?? "", blocks, ["cidr"])];
  if (id === undefined && externalNetwork === undefined)
    issues.unshift({
      path: ["externalNetwork"],
      message:
        "is missing; write the name of the network that leads outside (`openstack network list --external`), or the `id` of a network that exists",
    });
  if (id !== undefined && dnsNameservers.length > 0)
    issues.unshift({
      path: ["dnsNameservers"],
      message: "belongs to the network that exists; remove it, or the `id`",
    });
  if (room < machines)
    issues.push({
      path: ["cidr"],
      message: `${quoted(cidr)} has room for ${room} machines, and with those that a replacement adds there are ${machines}; write a larger block`,
    });
  return [...below(["network"], issues), ...podBlockSizeIssues(blocks, machines, "pools")];
}

function floatingIpIssues({ pools = [], network, endpoint }: OpenstackFacts): ValidationIssue[] {
  if (network?.externalNetwork !== undefined || network?.id === undefined) return [];
  const message = "floating IPs come from an external network; write `network.externalNetwork`";
  const paths = [
    ...pools.flatMap(({ floatingIp }, index) => (floatingIp ? [["pools", index, "floatingIp"]] : [])),
    ...(endpoint?.octavia?.floatingIp ? [["endpoint", "octavia", "floatingIp"]] : []),
  ];
  return paths.map((path) => ({ path, message }));
}

/** Returns the slot names of the pools: machine names without their hashes. */
export const slotsOf = (pools: readonly PoolFacts[]): string[] =>
  pools.flatMap(({ name, replicas = 1 }) => (name === undefined ? [] : slotNames(name, replicas)));
