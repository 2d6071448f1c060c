import { ipv4Issue } from "../../lib/validation/addresses";
import {
  controlPlaneCountIssues,
  duplicateMachineIssues,
  lostMachineIssues,
  roleFieldIssues,
  type MachineFacts,
} from "../../providers/kubeadm/plan/validation/machines";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import {
  blocksOverlapIssues,
  machineAddressIssues,
  podBlockSizeIssues,
} from "../../providers/kubeadm/plan/validation/network";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/machine";
import { nodeNames, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import {
  endpointIssues,
  machineApiPortIssues,
  type EndpointFacts,
} from "../../providers/kubeadm/plan/validation/endpoint";
import { taintIssues } from "../../providers/kubeadm/plan/validation/node-labels";
import { isObject } from "./rule";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function machineFacts(machine: unknown, index: number, sshPort: number): MachineFacts {
  const fields = isObject(machine) ? machine : {};
  const role = fields.role;
  return {
    index,
    name: text(fields.name),
    role: role === "control-plane" || role === "worker" ? role : undefined,
    address: text(fields.address),
    port: typeof fields.port === "number" ? fields.port : sshPort,
    internalAddress: text(fields.internalAddress),
    pool: text(fields.pool),
    apiServer: text(fields.apiServer),
  };
}

/** Returns a machine with default addresses, so that duplicates are found by the effective addresses. */
function withDefaults(machine: MachineFacts): MachineFacts {
  const { address } = machine;
  const usable = address !== undefined && ipv4Issue(address) === undefined;
  return { ...machine, internalAddress: machine.internalAddress ?? (usable ? address : undefined) };
}

/** Returns the readable fields of an endpoint. */
function endpointFacts(endpoint: unknown): Pick<EndpointFacts, "loopbackPort" | "externalHost"> {
  const { loopback, external } = isObject(endpoint) ? endpoint : { loopback: {} };
  const port = isObject(loopback) ? (loopback.port ?? 8443) : undefined;
  return {
    loopbackPort: typeof port === "number" ? port : undefined,
    externalHost: isObject(external) ? text(external.host) : undefined,
  };
}

/** Returns issues of a machine's, pool's or group's taints; paths are relative to its taints. */
function machineTaintIssues(machine: unknown): ValidationIssue[] {
  const { role, taints } = isObject(machine) ? machine : {};
  const readable = list(taints).map((taint) => (isObject(taint) ? taint : {}));
  // An unreadable taint has a separate issue and is never a duplicate.
  const named = readable.map((taint, index) => (taint.key === undefined ? { key: index } : taint));
  return taintIssues(named, role === "control-plane" || role === "worker" ? role : undefined);
}

/** Returns issues of the rollout's pools and nodes, as far as they can be read. */
function rolloutIssuesOf(rollout: unknown, machines: readonly MachineFacts[]): ValidationIssue[] {
  if (!isObject(rollout)) return [];
  const pools = isObject(rollout.pools) ? rollout.pools : {};
  const named = Object.entries(pools).map(([name, pool]) => [name, isObject(pool) ? pool : {}] as const);
  const pausedNodes = list(rollout.pausedNodes).flatMap((name) => text(name) ?? []);
  return rolloutIssues(
    { pools: Object.fromEntries(named), pausedNodes },
    machines.map(({ role, pool }) => (role === "control-plane" ? CONTROL_PLANE_GROUP : (pool ?? "workers"))),
    nodeNames(machines.flatMap(({ name }) => name ?? [])),
  ).map(({ path, message }) => ({ path: ["rollout", ...path], message }));
}

/**
 * Checks the rules that apply to every section with pools or groups of machines.
 *
 * @param network the cluster's network of pods and Services
 * @param sshPort SSH port of every machine; undefined if the cloud determines it
 * @param field name of the field with the pools or groups
 */
export function sectionIssues(
  name: string,
  section: Readonly<Record<string, unknown>>,
  network: Readonly<Record<string, unknown>>,
  sshPort: unknown,
  groups: readonly unknown[],
  field: string,
): ValidationIssue[] {
  const blocks = {
    podCidr: text(network.podCidr) ?? "10.244.0.0/16",
    serviceCidr: text(network.serviceCidr) ?? "10.96.0.0/12",
  };
  const machines = typeof sshPort === "number" ? [{ name: "each machine", port: sshPort }] : [];
  return [
    ...endpointIssues({ ...endpointFacts(section.endpoint), ...blocks, machines }),
    ...groups.flatMap((group, index) =>
      machineTaintIssues(group).map(({ path, message }) => ({
        path: [field, index, "taints", ...path],
        message,
      })),
    ),
  ].map(({ path, message }) => ({ path: [name, ...path], message }));
}

/**
 * Checks the rules that depend on several fields of the cluster.
 *
 * @param cluster the value with its defaults; invalid fields may have any value and are ignored
 */
export function clusterIssues(cluster: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const ssh = isObject(cluster.ssh) ? cluster.ssh : {};
  const network = isObject(cluster.network) ? cluster.network : {};
  const blocks = { podCidr: text(network.podCidr) ?? "", serviceCidr: text(network.serviceCidr) ?? "" };
  const sshPort = typeof ssh.port === "number" ? ssh.port : 22;
  const machines = list(cluster.machines).map((machine, index) => machineFacts(machine, index, sshPort));
  const lost = list(cluster.lost).map((name) => text(name) ?? "");
  const rolesKnown =
    Array.isArray(cluster.machines) && machines.every((machine) => machine.role !== undefined);

  return [
    ...duplicateMachineIssues(machines.map(withDefaults)),
    ...machines.flatMap(roleFieldIssues),
    ...(rolesKnown
      ? controlPlaneCountIssues({
          controlPlanes: machines.filter((machine) => machine.role === "control-plane").length,
          allowEvenControlPlanes: cluster.allowEvenControlPlanes === true,
          lost: lost.length,
        })
      : []),
    ...lostMachineIssues(
      lost,
      machines.flatMap((machine) => machine.name ?? []),
    ),
    ...blocksOverlapIssues(blocks),
    ...podBlockSizeIssues(blocks, machines.length),
    ...rolloutIssuesOf(cluster.rollout, machines),
    ...endpointIssues({ ...endpointFacts(cluster.endpoint), ...blocks, machines }),
    ...machines.flatMap((machine) => machineApiPortIssues(machine, ["machines", machine.index])),
    ...list(cluster.machines).flatMap((machine, index) =>
      machineTaintIssues(machine).map(({ path, message }) => ({
        path: ["machines", index, "taints", ...path],
        message,
      })),
    ),
    ...machines.flatMap((machine) => machineAddressIssues(blocks, machine, ["machines", machine.index])),
  ];
}
