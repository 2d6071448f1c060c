import type { Role } from "../../kubeadm/plan/machine";
import { slotNames } from "../../kubeadm/plan/machines/slots";
import { accessIssues, type AccessFacts } from "../../../lib/validation/access";
import { cidrSize, cidrsOverlap, parseCidr } from "../../../lib/validation/cidr";
import type { ValidationIssue } from "../../../lib/validation/validation-issue";
import { poolNameIssue, dnsLabelIssue } from "../../../lib/validation/names";
import { podBlockSizeIssues } from "../../kubeadm/plan/validation/network";
import { replaceIssues } from "../../kubeadm/plan/validation/replace";
import { quoted } from "../../../lib/text/quote";

/** Input of the rules for the section `openstack`; unreadable values are absent. */
interface OpenstackFacts {
  pools: PoolFacts[];
  network: { id?: string; cidr?: string; dns: number; externalNetwork?: string };
  octaviaFloatingIp: boolean;
  replace: string[];
  access: AccessFacts;
  /** CIDR blocks of pods and Services. */
  podCidr: string;
  serviceCidr: string;
}

export interface PoolFacts {
  name?: string;
  role?: Role;
  replicas: number;
  floatingIp: boolean;
  maxSurge: number;
}

/** Number of addresses of a subnet that machines can't use: network, broadcast, gateway, DHCP, router. */
const RESERVED_ADDRESSES = 5;

/** Returns the validation issues of the section `openstack` as a whole; paths are relative to it. */
export function openstackIssues(facts: OpenstackFacts): ValidationIssue[] {
  return [
    ...poolIssues(facts.pools),
    ...networkIssues(facts),
    ...floatingIpIssues(facts),
    ...replaceIssues(facts.replace, slotsOf(facts.pools)),
    ...accessIssues(facts.access),
  ];
}

function poolIssues(pools: readonly PoolFacts[]): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const controlPlanes = pools.flatMap((pool, index) =>
    pool.role === "control-plane" ? [{ pool, index }] : [],
  );
  const isRead = pools.every(({ role }) => role !== undefined);
  const [first, second] = controlPlanes;
  if (isRead && !first)
    issues.push({
      path: ["pools"],
      message: 'no pool is the control planes\'; give one the role "control-plane"',
    });
  if (first && second)
    issues.push({
      path: ["pools", second.index, "role"],
      message: `pools[${first.index}] has the control planes already; make this one a worker pool, or raise the replicas there`,
    });
  if (first && first.pool.replicas % 2 === 0)
    issues.push({
      path: ["pools", first.index, "replicas"],
      message: `${first.pool.replicas} control planes tolerate no more failures than ${Math.max(first.pool.replicas - 1, 1)}; write 1, 3 or 5`,
    });
  if (first && first.pool.maxSurge !== 1)
    issues.push({
      path: ["pools", first.index, "maxSurge"],
      message: "control planes are replaced one at a time; remove it",
    });
  pools.forEach(({ name, role }, index) => {
    if (name === undefined) return;
    const path = ["pools", index, "name"];
    const wrong = role === "worker" ? poolNameIssue(name) : dnsLabelIssue(name, 40);
    if (wrong !== undefined) issues.push({ path, message: wrong });
    const earlier = pools.findIndex((pool) => pool.name === name);
    if (earlier < index)
      issues.push({
        path,
        message: `${quoted(name)} is the name of pools[${earlier}] too; give each pool its own`,
      });
  });
  return issues;
}

function networkIssues({ network, pools, podCidr, serviceCidr }: OpenstackFacts): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const say = (field: string, message: string) => issues.push({ path: ["network", field], message });
  if (network.id === undefined && network.externalNetwork === undefined)
    say(
      "externalNetwork",
      "is missing; write the name of the network that leads outside (`openstack network list --external`), or the `id` of a network that exists",
    );
  if (network.id !== undefined && network.dns > 0)
    say("dns", "belongs to the network that exists; remove it, or the `id`");
  const block = network.cidr === undefined ? undefined : parseCidr(network.cidr);
  if (!block) return issues;
  for (const [field, text] of Object.entries({ podCidr, serviceCidr })) {
    const other = parseCidr(text);
    if (other && cidrsOverlap(block, other))
      say(
        "cidr",
        `${quoted(network.cidr)} overlaps cluster.network.${field} ${quoted(text)}; choose blocks that share no address`,
      );
  }
  const machines = pools.reduce((sum, { replicas, maxSurge }) => sum + replicas + maxSurge, 0);
  const room = cidrSize(block) - RESERVED_ADDRESSES;
  if (room < machines)
    say(
      "cidr",
      `${quoted(network.cidr)} has room for ${Math.max(room, 0)} machines, and with those that a replacement adds there are ${machines}; write a larger block`,
    );
  return [
    ...issues,
    ...podBlockSizeIssues({ podCidr, serviceCidr }, machines).map(({ message }) => ({
      path: ["pools"],
      message: `cluster.network.podCidr ${message}`,
    })),
  ];
}

function floatingIpIssues({ pools, network, octaviaFloatingIp }: OpenstackFacts): ValidationIssue[] {
  if (network.externalNetwork !== undefined || network.id === undefined) return [];
  const message = "floating IPs come from an external network; write `network.externalNetwork`";
  return [
    ...pools.flatMap((pool, index) =>
      pool.floatingIp ? [{ path: ["pools", index, "floatingIp"], message }] : [],
    ),
    ...(octaviaFloatingIp ? [{ path: ["endpoint", "octavia", "floatingIp"], message }] : []),
  ];
}

/** Returns the slot names of the pools: machine names without their hashes. */
export const slotsOf = (pools: readonly PoolFacts[]): string[] =>
  pools.flatMap(({ name, replicas }) => (name === undefined ? [] : slotNames(name, replicas)));
