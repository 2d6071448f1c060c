import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../../lib/json";
import { listed, printable, quoted } from "../../../../lib/text/quote";
import {
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
} from "../../../../lib/validation/validation-issue";
import type { Self } from "../../../../lib/ownership/owner";
import { adoptabilityIssues, serverIssues, socketIssue } from "./adoptable-cluster";
import type { AdoptableCluster, AdoptableNode, InspectedMachine, MemberFacts } from "./adoption-facts";
import { parseMachineMark } from "../facts/machine-mark";
import { ownershipOf } from "../facts/ownership";
import type { Machine } from "../cluster/machine";
import { type ClusterSpecification, controlPlaneEndpoint } from "../cluster/specification";
import { isSupported, SYSTEM_NAMES } from "../cluster/systems";
import type { ClusterInitStep } from "../steps";

/** Formats a fingerprint for messages. */
const short = (fingerprint: string): string => `sha256:${fingerprint.slice(0, 16)}`;

/**
 * Returns why machines can't be adopted, from what they said: each has to be a member of the same cluster, and of no
 * other stack. Nothing is written anywhere as long as there is one issue.
 *
 * @param cluster name of the cluster, which the mark of an earlier run names
 * @param self the stack that adopts
 */
export function membershipIssues(
  cluster: string,
  inspected: readonly InspectedMachine[],
  self: Self,
): ValidationIssue[] {
  const first = inspected.find(({ machine, facts }) => machine.role === "control-plane" && facts.authority);
  return inspected.flatMap(({ machine: { name }, facts }, index) => {
    const { marker, authority } = facts;
    const issue = (message: string) => issueAt(["machines", index], `${name}: ${message}`);
    const owned = ownershipOf(
      { cluster, machine: name, self },
      { mark: parseMachineMark(marker), identity: "" },
    );
    if (owned.is === "refused") return issueAt(["machines", index], owned.reason);
    if (authority === "")
      return issue(
        "is not a member of a kubeadm cluster (it has no /etc/kubernetes/kubelet.conf); adopt the cluster without it, then add it as any new machine",
      );
    if (first && authority !== first.facts.authority)
      return issue(
        `is a member of another cluster than ${first.machine.name}: its certificate authority is ${short(authority)}, not ${short(first.facts.authority)}; take it out`,
      );
    return systemIssue(facts).flatMap(issue);
  });
}

function systemIssue({ system }: MemberFacts): string[] {
  if (isSupported(system)) return [];
  return [`runs ${printable(system)}; foresail supports ${SYSTEM_NAMES} on amd64 and arm64`];
}

/** Returns why the machines are not the cluster's Nodes of the same names, and which control planes are missing. */
export function nodeIssues(
  source: ClusterSpecification["source"],
  inspected: readonly InspectedMachine[],
  nodes: readonly AdoptableNode[],
): ValidationIssue[] {
  const named = new Set(inspected.map(({ machine }) => machine.name));
  const missing = nodes.filter(({ name, controlPlane }) => controlPlane && !named.has(name));
  const names = listed(missing.map(({ name }) => name));
  return [
    ...inspected.flatMap((each, index) => machineIssues(source, each, index, nodes)),
    ...serverIssues(inspected),
    ...issueAt(
      ["machines"],
      missing.length === 0
        ? undefined
        : `the cluster's ${missing.length === 1 ? "control plane" : "control planes"} ${names} must be in the list, too: versions change on all control planes`,
    ),
  ];
}

function machineIssues(
  source: ClusterSpecification["source"],
  { machine, facts }: InspectedMachine,
  index: number,
  nodes: readonly AdoptableNode[],
): ValidationIssue[] {
  const { name, role, internalAddress } = machine;
  const at = (field: string[], message: string) => issueAt(["machines", index, ...field], message);
  const node = nodes.find((each) => each.name === name);
  if (node?.machineId !== facts.machineId) return at(["name"], identityIssue(name, facts, nodes));
  const controlPlane = role === "control-plane";
  if (node.controlPlane !== controlPlane || facts.controlPlane !== controlPlane)
    return at(
      ["role"],
      `${name} is a ${node.controlPlane ? "control plane" : "worker"} of the cluster, not a ${role}`,
    );
  if (node.internalAddress !== internalAddress)
    return at(
      ["internalAddress"],
      `is ${quoted(internalAddress)}, and the Node ${name} has ${quoted(node.internalAddress)}; write internalAddress: ${printable(node.internalAddress)}`,
    );
  if (!node.runtime.startsWith("containerd://"))
    return at([], `${name}: runs ${printable(node.runtime)}; the node agent works with containerd`);
  const socket = socketIssue(name, node.socket);
  if (socket !== undefined) return at([], `${name}: ${socket}`);
  return programIssue(source, facts.kubelet).flatMap((message) => at([], `${name}: ${message}`));
}

function identityIssue(name: string, { machineId }: MemberFacts, nodes: readonly AdoptableNode[]): string {
  const own = nodes
    .filter((node) => node.machineId === machineId && machineId !== "")
    .map((node) => node.name);
  const fix = own.length === 1 ? `write name: ${printable(own[0] ?? "")}` : "write the name of its Node";
  const what = nodes.some((node) => node.name === name)
    ? `the Node ${name} is another machine (its machine-id is not ${printable(machineId)})`
    : `the cluster has no Node ${name}`;
  return `${what}; ${fix}`;
}

/** An installation from another kind of source would be beside the one that runs, and never replace it. */
function programIssue(source: ClusterSpecification["source"], kubelet: string): string[] {
  const expected = "packages" in source ? "/usr/bin/kubelet" : "/usr/local/bin/kubelet";
  if (kubelet === expected) return [];
  const other =
    kubelet === "/usr/local/bin/kubelet"
      ? "; write cluster.source.bundle"
      : "; write cluster.source.packages";
  const fix = ["/usr/bin/kubelet", "/usr/local/bin/kubelet"].includes(kubelet) ? other : "";
  return [
    `starts the kubelet ${printable(kubelet) || "of no unit"}, and ${"packages" in source ? "packages" : "a bundle"} would install ${expected}${fix}`,
  ];
}

/**
 * Returns which settings differ from those of the cluster. kubeadm fixed them when the cluster was made, so the
 * configuration has to say the same.
 */
export function settingIssues(
  specification: ClusterSpecification,
  cluster: AdoptableCluster,
): ValidationIssue[] {
  const issues = adoptabilityIssues(cluster);
  if (issues.length > 0) return issues;
  const { clusterConfiguration: made = {} } = cluster;
  const { network, kubeadm, kubelet, kubeProxy, imageRepository = "registry.k8s.io" } = specification;
  const networking = isObject(made.networking) ? made.networking : {};
  const same = (path: ConfigurationPath, wanted: unknown, found: unknown) =>
    found === undefined || wanted === found ? [] : issueAt(path, differs(wanted, found));
  const endpoint = adoptedEndpoint(cluster);
  return [
    ...same(["network", "podSubnet"], network.podCidr, networking.podSubnet),
    ...same(["network", "serviceSubnet"], network.serviceCidr, networking.serviceSubnet),
    ...same(["network", "dnsDomain"], network.dnsDomain, networking.dnsDomain),
    ...same(["endpoint"], controlPlaneEndpoint(specification.endpoint), endpoint),
    ...same(["imageRepository"], imageRepository, made.imageRepository),
    ...unmetOrDerived(specification, [
      ...unmet(["kubeadm", "clusterConfiguration"], kubeadm.clusterConfiguration, made),
      ...unmet(["kubelet"], kubelet, cluster.kubelet),
    ]),
    ...unmet(["kubeProxy"], kubeProxy, cluster.kubeProxy),
    ...issueAt(
      ["kubelet", "cgroupDriver"],
      cluster.kubelet?.cgroupDriver === "cgroupfs" && kubelet.cgroupDriver === undefined
        ? OTHER_CGROUPS
        : undefined,
    ),
    ...issueAt(
      ["kubeadm", "initConfiguration"],
      kubeadm.initConfiguration && Object.keys(kubeadm.initConfiguration).length > 0
        ? "has no effect on an adopted cluster, which exists; remove it"
        : undefined,
    ),
  ];
}

/**
 * Returns host:port by which the nodes reach the API: kubeadm's controlPlaneEndpoint, or the only control plane. Undefined
 * when neither is known.
 */
export function adoptedEndpoint({ clusterConfiguration, nodes }: AdoptableCluster): string | undefined {
  const endpoint = clusterConfiguration?.controlPlaneEndpoint;
  if (typeof endpoint === "string" && endpoint !== "")
    return /:\d+$/.test(endpoint) ? endpoint : `${endpoint}:6443`;
  const planes = nodes.filter(({ controlPlane }) => controlPlane);
  return planes.length === 1 ? `${planes[0]?.internalAddress}:6443` : undefined;
}

const differs = (wanted: unknown, found: unknown): string =>
  `is ${quoted(String(wanted))}, and the cluster was made with ${quoted(String(found))}; write that, since it can't change`;

/** Returns an issue for each value that the cluster's own object does not have. */
function unmet(path: ConfigurationPath, wanted: unknown, found: unknown): ValidationIssue[] {
  if (wanted === undefined) return [];
  if (isObject(wanted))
    return Object.entries(wanted).flatMap(([key, value]) =>
      unmet([...path, key], value, isObject(found) ? found[key] : undefined),
    );
  if (Array.isArray(wanted) && Array.isArray(found))
    return wanted.every((item) => found.some((one) => isDeepStrictEqual(one, item)))
      ? []
      : issueAt(path, NOT_SET);
  return isDeepStrictEqual(wanted, found) ? [] : issueAt(path, NOT_SET);
}

/** Replaces issues of settings that the user did not write by one of the field that stands for them. */
function unmetOrDerived(
  { profile, authentication }: ClusterSpecification,
  issues: ValidationIssue[],
): ValidationIssue[] {
  const fields = [
    ...(profile === undefined ? [] : ["profile"]),
    ...(authentication === undefined ? [] : ["authentication"]),
  ];
  if (fields.length === 0 || issues.length === 0) return issues;
  return fields.flatMap((field) => issueAt([field], NOT_YET));
}

const NOT_YET =
  "stands for settings that the cluster does not have, and adopting changes nothing; adopt the cluster without it, then add it and run `up` again";

/** The message repeats no values, since they may be secret. */
const NOT_SET =
  "is not what the adopted cluster has, and adopting changes nothing; write the cluster's value, or remove it";

/** The kubelet of such a machine takes its driver from the cluster, and its containerd from the stack. */
const OTHER_CGROUPS =
  'is absent, and the cluster\'s kubelets have "cgroupfs"; write that, or no pod starts on machines that join later';

/** Returns one step for each machine. @param cluster undefined when it could not be read */
export function clusterAdoptionSteps(
  machines: readonly Pick<Machine, "name" | "role">[],
  cluster?: AdoptableCluster,
): ClusterInitStep[] {
  const endpoint = cluster && adoptedEndpoint(cluster);
  return machines.map(({ name: machine, role }) => {
    const version = cluster?.nodes.find(({ name }) => name === machine)?.version;
    return {
      kind: "adopt",
      machine,
      role: role === "worker" ? "worker" : "control plane",
      ...(endpoint !== undefined && version !== undefined ? { endpoint, version } : {}),
    };
  });
}

/**
 * Returns why `adopt` can't change, or undefined. What a stack created or adopted decides what destroy does to the
 * machines.
 *
 * @param wasAdopted undefined until the cluster is in the state
 */
export function refuseAdoptChange(wasAdopted: boolean | undefined, adopts: boolean): string | undefined {
  if (wasAdopted === undefined || wasAdopted === adopts) return undefined;
  return adopts
    ? "foresail made this cluster, so there is nothing to adopt; remove it"
    : "the stack adopted this cluster; put `adopt: true` back, since destroy would reset the machines without it";
}
