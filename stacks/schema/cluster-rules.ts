import type { z } from "zod";
import { ipv4Issue } from "../../lib/validation/addresses";
import { API_SERVER_PORT, SSH_PORT } from "../../lib/validation/ports";
import { below, type ValidationIssue } from "../../lib/validation/validation-issue";
import { DEFAULT_POOL, networkOf } from "../../providers/kubeadm/plan/defaults";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/machine";
import {
  endpointIssues,
  type EndpointFacts,
  machineAddressIssues,
  type NetworkBlocks,
} from "../../providers/kubeadm/plan/validation/network";
import { clusterIssues, taintIssues } from "../../providers/kubeadm/plan/validation/machines";
import { nodeNames, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import { ClusterInput, type BaseCluster } from "./cluster";
import type { MachineInput } from "./machine";
import { readable, type Readable } from "./check";
import { isObject } from "../../lib/json";

type ReadableCluster = Readable<z.output<typeof ClusterInput>>;

/** A cluster without its machines. */
export type ReadableBase = Readable<BaseCluster>;

interface MachineBase extends Omit<z.output<typeof MachineInput>, "role" | "pool"> {
  port: number;
  user: string;
  internalAddress: string;
}

export interface ControlPlaneMachine extends MachineBase {
  role: "control-plane";
  /** host:port at which foresail reaches this machine's API server. */
  apiServer: string;
}

export interface WorkerMachine extends MachineBase {
  role: "worker";
  pool: string;
}

/** A machine with all defaults. */
export type Machine = ControlPlaneMachine | WorkerMachine;

/** Returns a machine with all defaults. Idempotent. */
function completeMachine(
  machine: z.output<typeof MachineInput>,
  ssh: z.output<typeof ClusterInput>["ssh"],
): Machine {
  const { role, pool, apiServer, ...rest } = machine;
  const base: MachineBase = {
    ...rest,
    port: machine.port ?? ssh.port,
    user: machine.user ?? ssh.user,
    internalAddress: machine.internalAddress ?? machine.address,
  };
  return role === "worker"
    ? { ...base, role, pool: pool ?? DEFAULT_POOL }
    : { ...base, role, apiServer: apiServer ?? `${machine.address}:${API_SERVER_PORT}` };
}

const CheckedCluster = ClusterInput.superRefine(
  (cluster, context) => {
    for (const { path, message } of clusterRules(readable(ClusterInput, cluster)))
      context.addIssue({ code: "custom", path: [...path], message });
  },
  // Runs even if a field is invalid, so that one run reports all validation issues.
  { when: ({ value }) => isObject(value) },
);

/** Schema of `foresail:cluster`. Parsing sets all defaults of machines. */
export const ClusterConfiguration = CheckedCluster.transform((cluster) => ({
  ...cluster,
  machines: cluster.machines.map((machine) => completeMachine(machine, cluster.ssh)),
}));
export type ClusterConfiguration = z.output<typeof ClusterConfiguration>;

/** Checks the rules that depend on several fields of the cluster. */
function clusterRules(cluster: ReadableCluster): ValidationIssue[] {
  const port = cluster.ssh?.port ?? SSH_PORT;
  const network = networkOf(cluster.network);
  const machines = (cluster.machines ?? []).map((machine) => ({
    ...machine,
    port: machine.port ?? port,
    taints: readableTaints(machine.taints),
  }));
  return [
    ...clusterIssues({
      machines: machines.map(withInternalAddress),
      requireHostKeys: cluster.ssh?.requireHostKeys ?? false,
      rolesKnown: cluster.machines !== undefined && machines.every(({ role }) => role !== undefined),
      lost: cluster.lost ?? [],
      allowEvenControlPlanes: cluster.allowEvenControlPlanes ?? false,
      network,
      endpoint: cluster.endpoint,
    }),
    ...machines.flatMap((machine, index) =>
      below(["machines", index], machineAddressIssues(network, machine)),
    ),
    ...below(
      ["rollout"],
      rolloutIssues(
        cluster.rollout,
        machines.map(({ role, pool = DEFAULT_POOL }) =>
          role === "control-plane" ? CONTROL_PLANE_GROUP : pool,
        ),
        nodeNames(machines.flatMap(({ name }) => name ?? [])),
      ),
    ),
  ];
}

/** Returns a machine with its default internal address, so that duplicates are found by the effective addresses. */
function withInternalAddress<Machine extends { address?: string; internalAddress?: string }>(
  machine: Machine,
): Machine {
  const { address, internalAddress } = machine;
  const usable = address !== undefined && ipv4Issue(address) === undefined;
  return { ...machine, internalAddress: internalAddress ?? (usable ? address : undefined) };
}

type Taints = Readable<z.output<typeof MachineInput>>["taints"];

/** Returns taints for the rule against duplicates, in which a taint without a readable key is unique. */
const readableTaints = (taints: Taints = []) =>
  taints.map(({ key, effect }, index) => ({ key: key ?? index, effect }));

/**
 * Checks the rules for every section with pools or groups of machines; paths are relative to it.
 *
 * @param field name of the field with the pools or groups
 * @param sshPort port of SSH of every machine; undefined if the cloud determines it
 */
export function sectionRules(
  endpoint: EndpointFacts | undefined,
  field: string,
  pools: readonly Pick<Readable<z.output<typeof MachineInput>>, "role" | "taints">[],
  blocks: NetworkBlocks,
  sshPort?: number,
): ValidationIssue[] {
  const machines = sshPort === undefined ? [] : [{ name: "each machine", port: sshPort }];
  return [
    ...endpointIssues(endpoint, blocks, machines),
    ...pools.flatMap(({ role, taints }, index) =>
      below([field, index, "taints"], taintIssues(readableTaints(taints), role)),
    ),
  ];
}
