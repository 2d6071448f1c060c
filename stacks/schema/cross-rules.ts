import { ipv4Mistake } from "../../core/validation/addresses";
import {
  controlPlaneCountMistakes,
  duplicateMachineMistakes,
  lostMachineMistakes,
  roleFieldMistakes,
  type MachineFacts,
} from "../../core/validation/machines";
import type { Mistake } from "../../core/validation/mistake";
import {
  blocksOverlapMistakes,
  machineAddressMistakes,
  podBlockSizeMistakes,
} from "../../core/validation/network";
import { CONTROL_PLANE_GROUP } from "../../core/machine";
import { rolloutMistakes } from "../../core/validation/rollout";
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

/** A machine with the addresses that follow from others, so that two machines are compared by what they end up with. */
function withDefaults(machine: MachineFacts): MachineFacts {
  const { address } = machine;
  const usable = address !== undefined && ipv4Mistake(address) === undefined;
  return { ...machine, internalAddress: machine.internalAddress ?? (usable ? address : undefined) };
}

/** What a rollout says of pools and machines, as far as both can be read. */
function rolloutMistakesOf(rollout: unknown, machines: readonly MachineFacts[]): Mistake[] {
  if (!isObject(rollout)) return [];
  const pools = isObject(rollout.pools) ? rollout.pools : {};
  const named = Object.entries(pools).map(([name, pool]) => [name, isObject(pool) ? pool : {}] as const);
  const pausedNodes = list(rollout.pausedNodes).flatMap((name) => text(name) ?? []);
  return rolloutMistakes(
    { pools: Object.fromEntries(named), pausedNodes },
    machines.map(({ name, role, pool }) => ({
      name,
      pool: role === "control-plane" ? CONTROL_PLANE_GROUP : (pool ?? "workers"),
    })),
  ).map(({ path, message }) => ({ path: ["rollout", ...path], message }));
}

/**
 * The rules that look at several fields of the cluster together.
 * @param cluster the value with its defaults; a field that is wrong by itself may still hold anything, and is passed over
 */
export function clusterMistakes(cluster: Readonly<Record<string, unknown>>): Mistake[] {
  const ssh = isObject(cluster.ssh) ? cluster.ssh : {};
  const network = isObject(cluster.network) ? cluster.network : {};
  const blocks = { podCidr: text(network.podCidr) ?? "", serviceCidr: text(network.serviceCidr) ?? "" };
  const sshPort = typeof ssh.port === "number" ? ssh.port : 22;
  const machines = list(cluster.machines).map((machine, index) => machineFacts(machine, index, sshPort));
  const lost = list(cluster.lost).map((name) => text(name) ?? "");
  const rolesKnown =
    Array.isArray(cluster.machines) && machines.every((machine) => machine.role !== undefined);

  return [
    ...duplicateMachineMistakes(machines.map(withDefaults)),
    ...machines.flatMap(roleFieldMistakes),
    ...(rolesKnown
      ? controlPlaneCountMistakes({
          controlPlanes: machines.filter((machine) => machine.role === "control-plane").length,
          allowEvenControlPlanes: cluster.allowEvenControlPlanes === true,
          lost: lost.length,
        })
      : []),
    ...lostMachineMistakes(
      lost,
      machines.flatMap((machine) => machine.name ?? []),
    ),
    ...blocksOverlapMistakes(blocks),
    ...podBlockSizeMistakes(blocks, machines.length),
    ...rolloutMistakesOf(cluster.rollout, machines),
    ...machines.flatMap((machine) => machineAddressMistakes(blocks, machine, ["machines", machine.index])),
  ];
}
