import { duplicateIssues } from "../../../../lib/validation/duplicates";
import { poolNameIssue } from "../../../../lib/validation/names";
import { below, issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";
import { type Role, CONTROL_PLANE_TAINT } from "../machine";
import {
  endpointIssues,
  machineApiPortIssues,
  type EndpointFacts,
  type EndpointMachine,
  blocksOverlapIssues,
  podBlockSizeIssues,
  type NetworkBlocks,
} from "./network";
import { qualifiedNameIssue } from "../../../../lib/validation/labels";

/** Input of the machines' rules; values that could not be read are absent. */
export interface MachineFacts extends EndpointMachine {
  pool?: string;
  taints?: readonly { key?: unknown; effect?: unknown }[];
}

/** Input of the rules that depend on several fields of a cluster. */
export interface ClusterFacts {
  machines: readonly MachineFacts[];
  /** Whether the list of machines and all roles could be read. */
  rolesKnown: boolean;
  lost: readonly string[];
  allowEvenControlPlanes: boolean;
  network: NetworkBlocks;
  endpoint: EndpointFacts | undefined;
}

/** Returns the issues of a cluster's machines, lost machines, blocks and endpoint. */
export function clusterIssues(cluster: ClusterFacts): ValidationIssue[] {
  const { machines, lost, network } = cluster;
  const controlPlanes = machines.filter(({ role }) => role === "control-plane").length;
  const mayBeEven = cluster.allowEvenControlPlanes || lost.length > 0;
  return [
    ...duplicateMachineIssues(machines),
    ...(cluster.rolesKnown && !(mayBeEven && controlPlanes > 0)
      ? issueAt(
          ["machines"],
          controlPlaneCountIssue(controlPlanes, ", or set cluster.allowEvenControlPlanes: true"),
        )
      : []),
    ...lostMachineIssues(lost, machines),
    ...blocksOverlapIssues(network),
    ...podBlockSizeIssues(network, machines.length),
    ...endpointIssues(cluster.endpoint, network, machines),
    ...machines.flatMap((machine, index) =>
      below(
        ["machines", index],
        [
          ...roleFieldIssues(machine),
          ...machineApiPortIssues(machine),
          ...below(["taints"], taintIssues(machine.taints ?? [], machine.role)),
        ],
      ),
    ),
  ];
}

/**
 * Returns the issue of a number of control planes, or undefined. An even number tolerates no more failures than one
 * fewer.
 *
 * @param exception what allows the number nevertheless, after ", or"
 */
function controlPlaneCountIssue(count: number, exception = ""): string | undefined {
  if (count === 0) return 'there is no control plane; use 1 or 3 machines with the role "control-plane"';
  if (count % 2 === 1) return undefined;
  return `${count} control planes tolerate no more failures than ${count - 1}; use ${count - 1} or ${count + 1}${exception}`;
}

/**
 * Returns the issues of the pools or groups of a cloud: exactly one has the control planes, in an allowed number, and
 * no two have the same name.
 */
export function poolIssues(
  field: "pools" | "groups",
  pools: readonly { name?: string; role?: Role; replicas?: number }[],
): ValidationIssue[] {
  const what = field.slice(0, -1);
  const issues = duplicateIssues(
    pools.map(({ name }, index) => name ?? `${index} has none`),
    (name) => name,
    "name",
  );
  const planes = pools.flatMap(({ role }, index) => (role === "control-plane" ? [index] : []));
  const [first, second] = planes;
  if (first === undefined && pools.every(({ role }) => role !== undefined))
    issues.push({
      path: [],
      message: `no ${what} has the control planes; give one the role "control-plane"`,
    });
  if (second !== undefined) {
    const message = `${field}[${first}] has the control planes already; make this one a worker ${what}, or raise the replicas there`;
    issues.push({ path: [second, "role"], message });
  }
  if (first !== undefined)
    issues.push(...issueAt([first, "replicas"], controlPlaneCountIssue(pools[first]?.replicas ?? 1)));
  pools.forEach(({ name, role }, index) => {
    if (name !== undefined && role === "worker")
      issues.push(...issueAt([index, "name"], poolNameIssue(name)));
  });
  return below([field], issues);
}

/** Returns an issue for each name, SSH address, internal address or API address that two machines share. */
function duplicateMachineIssues(machines: readonly MachineFacts[]): ValidationIssue[] {
  const own: [field: string, what: string, value: (machine: MachineFacts) => string | undefined][] = [
    ["name", "name", (machine) => machine.name],
    ["address", "address and port", (machine) => machine.address && `${machine.address}:${machine.port}`],
    ["internalAddress", "internal address", (machine) => machine.internalAddress],
    [
      "apiServer",
      "API address",
      (machine) => (machine.role === "control-plane" ? machine.apiServer : undefined),
    ],
  ];
  return own.flatMap(([field, what, valueOf]) => {
    const values = machines.map(valueOf);
    return values.flatMap((value, index) => {
      const earlier = values.indexOf(value);
      if (value === undefined || earlier === index) return [];
      const message = `${quoted(value)} is the ${what} of machines[${earlier}] too; give each machine its own`;
      return issueAt(["machines", index, field], message);
    });
  });
}

/** Returns an issue for a field that the machine's role does not have. */
function roleFieldIssues({ role, pool, apiServer }: MachineFacts): ValidationIssue[] {
  if (role === "control-plane" && pool !== undefined)
    return issueAt(["pool"], "control planes have no pool; remove it, or make the machine a worker");
  if (role === "worker" && apiServer !== undefined)
    return issueAt(["apiServer"], "workers have no API server; remove it");
  return [];
}

function lostMachineIssues(
  lost: readonly string[],
  machines: readonly { name?: string }[],
): ValidationIssue[] {
  const present = lost.flatMap((name, index) =>
    machines.some((machine) => machine.name === name)
      ? issueAt(
          [index],
          `${quoted(name)} is still under cluster.machines; remove it there if it is dead, or here if it is alive`,
        )
      : [],
  );
  return below(["lost"], [...present, ...duplicateIssues(lost, (name) => name)]);
}

/**
 * Returns an issue for each taint that a list repeats, or that a control plane has by default: kubeadm refuses to
 * register a Node that has a taint twice.
 */
export function taintIssues(
  taints: readonly { key?: unknown; effect?: unknown }[],
  role: Role | undefined,
): ValidationIssue[] {
  const name = ({ key, effect }: { key?: unknown; effect?: unknown }) => `${String(key)}:${String(effect)}`;
  const own = name(CONTROL_PLANE_TAINT);
  const repeated = taints.flatMap((taint, index): ValidationIssue[] =>
    role === "control-plane" && name(taint) === own
      ? [{ path: [index], message: `${quoted(own)} is set on every control plane by foresail; remove it` }]
      : [],
  );
  return [...repeated, ...duplicateIssues(taints, name)];
}

/** Labels that kubeadm derives from the role, and labels that each kubelet sets itself. */
const ROLE_LABELS = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
const KUBELET_LABELS = [
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];
/** Prefixes inside kubernetes.io that administrators may use (kubernetes.io "Well-Known Labels"). */
const OPEN_PREFIXES = [
  "node-role.kubernetes.io",
  "topology.kubernetes.io",
  "node.kubernetes.io",
  "node-restriction.kubernetes.io",
  "kubelet.kubernetes.io",
];

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
