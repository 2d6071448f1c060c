import type { z } from "zod";
import { ipv4Issue } from "../../lib/validation/addresses";
import { SSH_PORT } from "../../lib/validation/ports";
import { below, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { DEFAULT_POOL, networkOf } from "../../providers/kubeadm/plan/cluster/defaults";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/cluster/machine";
import {
  endpointIssues,
  type ValidatedEndpoint,
  machineAddressIssues,
  type NetworkBlocks,
} from "../../providers/kubeadm/plan/validation/network";
import { authenticationConflicts } from "../../providers/kubeadm/plan/hardening/validation";
import { contradictionIssues, nodePrefix } from "../../providers/kubeadm/plan/validation/contradictions";
import { adoptionIssues } from "../../providers/kubeadm/plan/adoption/validation";
import {
  clusterIssues,
  encryptionKeyIssue,
  taintIssues,
} from "../../providers/kubeadm/plan/validation/machines";
import { poolSettingIssues } from "../../providers/kubeadm/plan/validation/pools";
import { nodeNames, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import type { ClusterInput, withoutMachines } from "./cluster";
import type { MachineInput } from "./machine";
import type { Readable } from "../../lib/validation/check";

/** Checks the rules that depend on several fields of the cluster. */
export const clusterRules = ({ cluster = {} }: { cluster?: Readable<ClusterInput> }): ValidationIssue[] =>
  below(["cluster"], machineClusterRules(cluster));

/** Checks the rules that depend on several fields of a cluster of existing machines; paths are relative to it. */
export function machineClusterRules(cluster: Readable<ClusterInput>): ValidationIssue[] {
  const port = cluster.ssh?.port ?? SSH_PORT;
  const network = blocksOf(cluster);
  const machines = (cluster.machines ?? []).map((machine) => ({
    ...machine,
    port: machine.port ?? port,
    taints: readableTaints(machine.taints),
  }));
  const groups = machines.map(({ role, pool = DEFAULT_POOL }) =>
    role === "control-plane" ? CONTROL_PLANE_GROUP : pool,
  );
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
    ...adoptionIssues(cluster),
    ...settingRules(cluster, groups),
    ...machines.flatMap((machine, index) =>
      below(["machines", index], machineAddressIssues(network, machine)),
    ),
    ...below(
      ["rollout"],
      rolloutIssues(cluster.rollout, groups, nodeNames(machines.flatMap(({ name }) => name ?? []))),
    ),
  ];
}

/** The fields of a cluster on every system. */
type CommonFields = Omit<Readable<ClusterInput>, keyof ReturnType<typeof withoutMachines>> & {
  adopt?: boolean;
};

/**
 * Checks the rules that depend on several settings of a cluster, on every system; paths are relative to it.
 *
 * @param groups the pools of its machines
 */
export const settingRules = (cluster: CommonFields, groups: readonly string[]): ValidationIssue[] => [
  ...authenticationConflicts(cluster),
  ...contradictionIssues(cluster),
  ...poolSettingIssues(cluster, groups),
  ...issueAt(["encryptionKeyGeneration"], encryptionKeyIssue(cluster)),
];

/** Returns the blocks of a cluster, with the defaults. */
export const blocksOf = (cluster: CommonFields): NetworkBlocks & { dnsDomain: string } => ({
  ...networkOf(cluster.network),
  nodePrefix: nodePrefix(cluster),
});

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
  endpoint: ValidatedEndpoint | undefined,
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
