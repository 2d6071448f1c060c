import { below, duplicateIssues, issueAt } from "../../../../lib/validation/validation-issue";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { poolNameIssue } from "../../../../lib/validation/names";
import { quoted } from "../../../../lib/text/quote";
import { type Role, CONTROL_PLANE_TAINT } from "../cluster/machine";
import { blocksOverlapIssues, endpointIssues, machineApiPortIssues, podBlockSizeIssues } from "./network";
import type { ValidatedEndpoint, EndpointMachine, NetworkBlocks } from "./network";
import { taintId } from "../membership/nodes";
import { qualifiedNameIssue } from "../../../../lib/validation/labels";

/** Input of the machines' rules; values that could not be read are absent. */
export interface ValidatedMachine extends EndpointMachine {
  pool?: string;
  hostKey?: unknown;
  taints?: readonly { key?: unknown; effect?: unknown }[];
}

/** Input of the rules that depend on several fields of a cluster. */
export interface ClusterFacts {
  machines: readonly ValidatedMachine[];
  /** Whether the list of machines and all roles could be read. */
  rolesKnown: boolean;
  /** Whether every machine must show a configured host key, so that there is no first contact. */
  requireHostKeys: boolean;
  lost: readonly string[];
  allowEvenControlPlanes: boolean;
  network: NetworkBlocks;
  endpoint: ValidatedEndpoint | undefined;
}

/** Returns the issues of a cluster's machines, lost machines, blocks and endpoint. */
export function clusterIssues(cluster: ClusterFacts): ValidationIssue[] {
  const { machines, lost, network } = cluster;
  const controlPlanes = machines.filter(({ role }) => role === "control-plane").length;
  const mayBeEven = cluster.allowEvenControlPlanes || lost.length > 0;
  return [
    ...duplicateMachineIssues(machines),
    ...(cluster.rolesKnown
      ? issueAt(
          ["machines"],
          controlPlaneCountIssue(controlPlanes, mayBeEven, ", or set cluster.allowEvenControlPlanes: true"),
        )
      : []),
    ...lostMachineIssues(lost, machines),
    ...blocksOverlapIssues(network),
    ...podBlockSizeIssues(network, machines.length),
    ...endpointIssues(cluster.endpoint, network, machines),
    ...machines.flatMap((machine, index) => {
      const hostKey = cluster.requireHostKeys ? issueAt(["hostKey"], absentHostKeyIssue(machine)) : [];
      const taints = below(["taints"], taintIssues(machine.taints ?? [], machine.role));
      return below(
        ["machines", index],
        [...roleFieldIssues(machine), ...machineApiPortIssues(machine), ...hostKey, ...taints],
      );
    }),
  ];
}

/** Returns the issue of a generation of the key for Secrets at rest, or undefined. */
export function encryptionKeyIssue({
  encryptSecretsAtRest = true,
  encryptionKeyGeneration: generation = 1,
}: {
  encryptSecretsAtRest?: boolean;
  encryptionKeyGeneration?: number;
}): string | undefined {
  if (!Number.isInteger(generation) || generation < 1) return "must be a whole number from 1 on";
  if (encryptSecretsAtRest || generation === 1) return undefined;
  return "has no effect without `encryptSecretsAtRest`; remove it";
}

function absentHostKeyIssue({ hostKey }: ValidatedMachine): string | undefined {
  if (hostKey !== undefined) return undefined;
  return "is missing, and `ssh.requireHostKeys` allows no first contact; copy it from /etc/ssh/ssh_host_ed25519_key.pub on the machine";
}

/** Most members of etcd: each write waits for a majority of them (https://etcd.io/docs/v3.6/faq/). */
const MOST_CONTROL_PLANES = 7;

/**
 * Returns the issue of a number of control planes, or undefined. An even number tolerates no more failures than one
 * fewer.
 *
 * @param mayBeEven whether an even number is accepted, such as one more until another one is replaced
 * @param exception what allows an even number, after ", or"
 */
function controlPlaneCountIssue(count: number, mayBeEven = false, exception = ""): string | undefined {
  if (count === 0) return 'there is no control plane; use 1 or 3 machines with the role "control-plane"';
  if (count > MOST_CONTROL_PLANES + Number(mayBeEven))
    return `${count} control planes would slow down etcd, in which each of them is a member; use 3, or at most ${MOST_CONTROL_PLANES}, and workers for pods`;
  if (mayBeEven || count % 2 === 1) return undefined;
  return `${count} control planes tolerate no more failures than ${count - 1}; use ${count - 1} or ${count + 1}${exception}`;
}

/** Returns the issues of the pools or groups of a cloud: one has the control planes, and each a name of its own. */
export function poolIssues(
  field: "pools" | "groups",
  pools: readonly { name?: string; role?: Role; replicas?: number }[],
): ValidationIssue[] {
  const what = field.slice(0, -1);
  const names = pools.map(({ name }, index) => name ?? `${index} has none`);
  const issues = duplicateIssues(names, (name) => name, "name");
  const [first, second] = pools.flatMap(({ role }, index) => (role === "control-plane" ? [index] : []));
  if (first === undefined && pools.every(({ role }) => role !== undefined))
    issues.push(...issueAt([], `no ${what} has the control planes; give one the role "control-plane"`));
  if (second !== undefined) {
    const message = `${field}[${first}] has the control planes already; make this one a worker ${what}, or raise the replicas there`;
    issues.push(...issueAt([second, "role"], message));
  }
  if (first !== undefined)
    issues.push(...issueAt([first, "replicas"], controlPlaneCountIssue(pools[first]?.replicas ?? 1)));
  for (const [index, { name, role }] of pools.entries())
    if (name !== undefined && role === "worker")
      issues.push(...issueAt([index, "name"], poolNameIssue(name)));
  return below([field], issues);
}

/** Returns an issue for each name, SSH address, internal address or API address that two machines share. */
function duplicateMachineIssues(machines: readonly ValidatedMachine[]): ValidationIssue[] {
  const planes = machines.map(({ role, apiServer }) => (role === "control-plane" ? apiServer : undefined));
  const own: [field: string, what: string, values: (string | undefined)[]][] = [
    ["name", "name", machines.map(({ name }) => name)],
    ["address", "address and port", machines.map(({ address, port }) => address && `${address}:${port}`)],
    ["internalAddress", "internal address", machines.map(({ internalAddress }) => internalAddress)],
    ["apiServer", "API address", planes],
  ];
  return own.flatMap(([field, what, values]) =>
    values.flatMap((value, index) => {
      const earlier = values.indexOf(value);
      if (value === undefined || earlier === index) return [];
      const message = `${quoted(value)} is the ${what} of machines[${earlier}] too; give each machine its own`;
      return issueAt(["machines", index, field], message);
    }),
  );
}

/** Returns an issue for a field that the machine's role does not have. */
function roleFieldIssues({ role, pool, apiServer }: ValidatedMachine): ValidationIssue[] {
  if (role === "control-plane" && pool !== undefined)
    return issueAt(["pool"], "control planes have no pool; remove it, or make the machine a worker");
  if (role === "worker" && apiServer !== undefined)
    return issueAt(["apiServer"], "workers have no API server; remove it");
  return [];
}

function lostMachineIssues(lost: readonly string[], machines: readonly { name?: string }[]) {
  const present = lost.flatMap((name, index) => {
    const message = `${quoted(name)} is still under cluster.machines; remove it there if it is dead, or here if it is alive`;
    return issueAt([index], machines.some((machine) => machine.name === name) ? message : undefined);
  });
  return below(["lost"], [...present, ...duplicateIssues(lost, (name) => name)]);
}

/** Returns an issue for each repeated or default taint: kubeadm registers no Node that has a taint twice. */
export function taintIssues(
  taints: NonNullable<ValidatedMachine["taints"]>,
  role: Role | undefined,
): ValidationIssue[] {
  const names = taints.map(({ key, effect }) => `${String(key)}:${String(effect)}`);
  const own = role === "control-plane" ? taintId(CONTROL_PLANE_TAINT) : undefined;
  const message = `${quoted(own)} is set on every control plane by foresail; remove it`;
  return [
    ...names.flatMap((name, index) => issueAt([index], name === own ? message : undefined)),
    ...duplicateIssues(names, (name) => name),
  ];
}

/** Labels that kubeadm derives from the role, and labels that each kubelet sets itself. */
const ROLE_LABELS = ["control-plane", "master"].map((role) => `node-role.kubernetes.io/${role}`);
const KUBELET_LABELS = [
  ...["hostname", "os", "arch"].map((name) => `kubernetes.io/${name}`),
  ...["os", "arch"].map((name) => `beta.kubernetes.io/${name}`),
];
/** Prefixes inside kubernetes.io that administrators may use (kubernetes.io "Well-Known Labels"). */
const OPEN_PREFIXES = ["node-role", "topology", "node", "node-restriction", "kubelet"].map(
  (name) => `${name}.kubernetes.io`,
);

function reservedPrefix(key: string): boolean {
  const prefix = key.includes("/") ? (key.split("/")[0] ?? "") : "";
  const ofKubernetes = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix);
  return ofKubernetes && !OPEN_PREFIXES.some((open) => prefix === open || prefix.endsWith(`.${open}`));
}

/** Returns what is wrong with the key of a Node label, or undefined. */
export function nodeLabelKeyIssue(key: string): string | undefined {
  const wrong = qualifiedNameIssue(key);
  if (wrong) return wrong;
  if (ROLE_LABELS.includes(key)) return `${quoted(key)} follows from the role; remove it`;
  if (KUBELET_LABELS.includes(key)) return `${quoted(key)} is reported by the kubelet itself; remove it`;
  if (reservedPrefix(key))
    return `${quoted(key)} is reserved for Kubernetes itself; use a prefix of your own, e.g. "example.com/name"`;
  return undefined;
}

/** Returns what is wrong with the key of a taint, or undefined. */
export function taintKeyIssue(key: string): string | undefined {
  const wrong = qualifiedNameIssue(key);
  if (wrong) return wrong;
  const ofKubernetes = /^node(\.cloudprovider)?\.kubernetes\.io\//.test(key);
  return ofKubernetes
    ? `${quoted(key)} is set and removed by Kubernetes itself; use a key of your own`
    : undefined;
}
