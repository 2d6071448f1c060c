import { isObject, ownValue } from "../../../../lib/json";
import { parseBoolean } from "../../../../lib/validation/boolean";
import { quoted } from "../../../../lib/text/quote";
import { parseCidr } from "../../../../lib/validation/addresses";
import {
  below,
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import { argumentsAt } from "../configuration/arguments";
import { networkOf } from "../cluster/defaults";
import { argumentFormIssues } from "./argument-forms";
import { componentValueIssues } from "./component-values";
import { extraVolumeIssues, unmountedFileIssues } from "./extra-volumes";
import { kubeletValueIssues } from "./kubelet-values";
import { NODE_PREFIX, pluginBlockIssues, usesNodeBlocks } from "./network-plugin";
import { PASS_THROUGH, versionIssues } from "./pass-through";
import { pluginValueIssues } from "./plugin-values";
import { proxyValueIssues } from "./proxy-values";

/** Settings of a cluster that depend on each other; absent ones are not readable or not set. */
export interface ClusterSettings {
  version?: string;
  adopt?: boolean;
  profile?: string;
  encryptSecretsAtRest?: boolean;
  network?: { podSubnet?: string; serviceSubnet?: string; dnsDomain?: string; plugin?: object };
  kubeadm?: {
    clusterConfiguration?: unknown;
    initConfiguration?: unknown;
    joinConfiguration?: unknown;
  };
  kubelet?: unknown;
  kubeProxy?: unknown;
}

const PER_MACHINE = "belongs to one machine, and this is for all of them; ";
const ETCD_ADDRESS = `${PER_MACHINE}remove it: foresail takes the internalAddress of each machine`;

/** Arguments that contradict a field of foresail, by the place of their list: what to do instead. */
const CONTRADICTING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "clusterConfiguration.apiServer.extraArgs": {
    "service-cluster-ip-range": "contradicts network.serviceSubnet; write it there",
    "advertise-address": `${PER_MACHINE}use the internalAddress of the machine`,
    "secure-port":
      "contradicts the port of every API server, which the endpoint, kubeadm and health checks use; remove it, and use endpoint.external.port for another port of the load balancer",
    "bind-address":
      "contradicts the address at which nodes and health checks reach every API server, all of the machine; remove it",
    "etcd-servers": "contradicts the etcd that foresail runs on the control planes; remove it",
    "encryption-provider-config":
      "contradicts encryptSecretsAtRest; remove it, or write encryptSecretsAtRest: false",
  },
  "clusterConfiguration.controllerManager.extraArgs": {
    "cluster-cidr": "contradicts network.podSubnet; write it there",
    "service-cluster-ip-range": "contradicts network.serviceSubnet; write it there",
    "cluster-name": "contradicts the name of the cluster; remove it",
  },
  "clusterConfiguration.etcd.local.extraArgs": {
    "data-dir": "contradicts etcd.local.dataDir, whose folder kubeadm mounts; write it there",
    name: `${PER_MACHINE}remove it: a member has the name of its machine`,
    ...Object.fromEntries(
      [
        "listen-client-urls",
        "listen-peer-urls",
        "advertise-client-urls",
        "initial-advertise-peer-urls",
        "initial-cluster",
        "initial-cluster-state",
      ].map((argument) => [argument, ETCD_ADDRESS]),
    ),
  },
  ...Object.fromEntries(
    ["initConfiguration", "joinConfiguration"].map((object) => [
      `${object}.nodeRegistration.kubeletExtraArgs`,
      {
        "node-ip": `${PER_MACHINE}use the internalAddress of the machine`,
        "hostname-override": `${PER_MACHINE}use the name of the machine`,
        "provider-id": `${PER_MACHINE}remove it: the cloud's controller sets it`,
        "cluster-domain": "contradicts network.dnsDomain; write it there",
        "container-runtime-endpoint": "contradicts the containerd that foresail installs; remove it",
        "cgroup-driver": "contradicts kubelet.cgroupDriver; write it there",
      },
    ]),
  ),
};

const isFalse = (text = "") => parseBoolean(text) === false;
const ANONYMOUS = ["/livez", "/readyz", "/healthz"].join(", ");
const ANONYMOUS_FIX =
  "would refuse the health checks of the kubelet and of load balancers; remove it, and write profile: cis, or an AuthenticationConfiguration " +
  `in files whose anonymous.conditions allow ${ANONYMOUS}, with the argument authentication-config`;

/** Returns an issue for each argument that contradicts a field of foresail, or that belongs to one machine. */
function contradictingArguments({
  kubeadm,
  encryptSecretsAtRest = true,
}: ClusterSettings): ValidationIssue[] {
  return Object.entries(CONTRADICTING).flatMap(([place, fixes]) =>
    argumentsAt(kubeadm, place).flatMap(({ name, value }, index) => {
      const path: ConfigurationPath = ["kubeadm", ...place.split("."), index, "name"];
      if (place === "clusterConfiguration.apiServer.extraArgs" && name === "anonymous-auth")
        return issueAt(path, isFalse(value) ? `${quoted(name)} ${ANONYMOUS_FIX}` : undefined);
      if (name === "encryption-provider-config" && !encryptSecretsAtRest) return [];
      if (name === "bind-address" && ["0.0.0.0", "::"].includes(value ?? "")) return [];
      const fix = ownValue(fixes, name);
      return issueAt(path, fix && `${quoted(name)} ${fix}`);
    }),
  );
}

const CONTROLLER_MANAGER = "clusterConfiguration.controllerManager.extraArgs";
const MASK = /^node-cidr-mask-size(-ipv4)?$/;

/** Returns the prefix of each node's block of the pod network; undefined if the argument is not a number. */
export function nodePrefix({ kubeadm }: Pick<ClusterSettings, "kubeadm">): number | undefined {
  const written = argumentsAt(kubeadm, CONTROLLER_MANAGER).findLast(({ name }) => MASK.test(name));
  if (written === undefined) return NODE_PREFIX;
  return /^\d{1,2}$/.test(written.value ?? "") ? Number(written.value) : undefined;
}

/**
 * Returns an issue for arguments of the controller manager with which it would end, or give nodes no block: pods have IPv4
 * addresses only.
 */
function excludedMasks(settings: ClusterSettings): ValidationIssue[] {
  const list = argumentsAt(settings.kubeadm, CONTROLLER_MANAGER);
  const has = (name: string) => list.some((one) => one.name === name);
  return list.flatMap(({ name, value }, index) => {
    const at: ConfigurationPath = ["kubeadm", ...CONTROLLER_MANAGER.split("."), index, "name"];
    if (name === "node-cidr-mask-size-ipv6")
      return issueAt(
        at,
        `${quoted(name)} is for pods with IPv6 addresses, and network.podSubnet is IPv4; remove it`,
      );
    if (name === "node-cidr-mask-size-ipv4" && has("node-cidr-mask-size"))
      return issueAt(at, `${quoted(name)} and "node-cidr-mask-size" exclude each other; remove one`);
    const isOff = name === "allocate-node-cidrs" && isFalse(value);
    return issueAt(
      at,
      isOff && usesNodeBlocks(settings) === true
        ? `${quoted(name)} would leave nodes without a block of network.podSubnet, which the network plugin gives to pods; remove it`
        : undefined,
    );
  });
}

/** Most node blocks that Kubernetes makes of one block: 2^16. */
const MOST_BITS = 16;
const DEFAULT_MAX_PODS = 110;

/** Returns the issues of the pod block, each node's block of it, and the number of pods on a node. */
function maskIssues(settings: ClusterSettings): ValidationIssue[] {
  const { podSubnet } = networkOf(settings.network);
  const pods = parseCidr(podSubnet);
  const prefix = nodePrefix(settings);
  const index = argumentsAt(settings.kubeadm, CONTROLLER_MANAGER).findLastIndex(({ name }) =>
    MASK.test(name),
  );
  const at: ConfigurationPath = ["kubeadm", ...CONTROLLER_MANAGER.split("."), index, "value"];
  const excluded = excludedMasks(settings);
  if (excluded.length > 0) return excluded;
  if (prefix === undefined || prefix > 30)
    return issueAt(at, "is not the prefix of an IPv4 block; write a number of at most 30, in quotes");
  // the pod block has its own rule
  if (pods === undefined) return [];
  const { maxPods = DEFAULT_MAX_PODS } = isObject(settings.kubelet) ? settings.kubelet : {};
  const room = 2 ** (32 - prefix) - 2;
  const isFull = typeof maxPods === "number" && maxPods > room;
  const subnet = ["network", "podSubnet"];
  if (index < 0 && pods.prefix > prefix)
    return issueAt(
      subnet,
      `${quoted(podSubnet)} is too small: each node takes a /${prefix}; write e.g. a /16`,
    );
  if (index < 0)
    return issueAt(
      ["kubelet", "maxPods"],
      isFull && settings.adopt !== true && usesNodeBlocks(settings) === true
        ? `is ${String(maxPods)}, and each node has ${room} addresses for pods (a /${prefix}); write at most ${room}, or the argument node-cidr-mask-size of the controller manager with a smaller number`
        : undefined,
    );
  const ofPods = `network.podSubnet ${quoted(podSubnet)}`;
  if (pods.prefix > prefix)
    return issueAt(at, `a /${prefix} of each node is larger than ${ofPods}; write a larger number`);
  if (prefix - pods.prefix > MOST_BITS)
    return issueAt(
      at,
      `a /${prefix} of each node is more than ${MOST_BITS} bits longer than ${ofPods}, which Kubernetes refuses; write ${pods.prefix + MOST_BITS} or less`,
    );
  return issueAt(
    at,
    isFull
      ? `a /${prefix} of each node has ${room} addresses for ${String(maxPods)} pods; write a smaller number, or kubelet.maxPods: ${room}`
      : undefined,
  );
}

/** Arguments of the kubelet in the place of fields that are compared with each other. */
const OF_FIELDS =
  /^(enforce-|cgroups-|cpu-|image-|minimum-image-|eviction-|memory-manager-|(system-|kube-)?reserved|experimental-allocatable-|config)/;

/** Tells whether the kubelets have nothing but the written fields and defaults. */
const isWholeKubelet = ({ adopt = false, kubeadm }: ClusterSettings): boolean =>
  !adopt &&
  ["initConfiguration", "joinConfiguration"].every(
    (object) =>
      valueAt(kubeadm, [object, "patches"]) === undefined &&
      argumentsAt(kubeadm, `${object}.nodeRegistration.kubeletExtraArgs`).every(
        ({ name }) => !OF_FIELDS.test(name),
      ),
  );

/**
 * Returns the issues of fields and arguments that the cluster's version of Kubernetes does not have. An etcd of another image has
 * arguments of its own.
 */
function fieldsOfVersion({ version, kubeadm, ...others }: ClusterSettings): ValidationIssue[] {
  if (version === undefined) return [];
  const objects = { ...kubeadm, kubelet: others.kubelet, kubeProxy: others.kubeProxy };
  const isOtherEtcd = valueAt(kubeadm, ["clusterConfiguration", "etcd", "local", "imageTag"]) !== undefined;
  return Object.entries(PASS_THROUGH).flatMap(([name, kind]) => {
    const object: unknown = objects[name as keyof typeof PASS_THROUGH];
    if (!isObject(object)) return [];
    const path = name.endsWith("Configuration") ? ["kubeadm", name] : [name];
    const issues = versionIssues(kind, object, version).filter(
      ({ path: at }) => !(isOtherEtcd && at.slice(0, 3).join(".") === "etcd.local.extraArgs"),
    );
    return below(path, issues);
  });
}

/**
 * Returns the issues of settings of a cluster that contradict each other; paths are relative to it. A cluster that others
 * made keeps its arguments.
 */
export function contradictionIssues(settings: ClusterSettings): ValidationIssue[] {
  const { kubeProxy, network, adopt = false } = settings;
  return [
    ...fieldsOfVersion(settings),
    ...(settings.adopt === true ? [] : contradictingArguments(settings)),
    ...maskIssues(settings),
    ...componentValueIssues(settings),
    ...below(["kubelet"], kubeletValueIssues(settings.kubelet, isWholeKubelet(settings))),
    ...(adopt
      ? []
      : [...argumentFormIssues(settings), ...extraVolumeIssues(settings), ...unmountedFileIssues(settings)]),
    ...below(["kubeProxy"], proxyValueIssues(kubeProxy, { version: settings.version, isWhole: !adopt })),
    ...below(["network", "plugin"], pluginBlockIssues(settings)),
    ...below(["network", "plugin"], pluginValueIssues(network?.plugin)),
  ];
}
