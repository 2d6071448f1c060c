import { API_SERVER_PORT } from "../../../lib/validation/ports";
import {
  type ConfigurationChange,
  configurationVersions,
  preparedVersion,
  versionFor,
} from "../plan/configuration/configuration";
import { pathsWritten, type RolledConfiguration } from "../plan/configuration/rolled-configuration";
import { CONTROL_PLANE_GROUP, type Machine } from "../plan/cluster/machine";
import {
  kubeletPatchFolders,
  type MachineSpecification,
  memberOf,
  patchFolders,
  type PoolMember,
  specificationOf,
} from "../plan/cluster/pools";
import type { PodNetworkKind } from "../plan/endpoint/network-ports";
import { markedNames, ownerVariables } from "../plan/facts/machine-mark";
import { NODE_PATHS } from "../plan/cluster/node-paths";
import { etcdDataFolder } from "../plan/hardening/private-files";
import { type ClusterSpecification, filesOf } from "../plan/cluster/specification";
import { SUPPORTED_SYSTEMS, SYSTEM_NAMES } from "../plan/cluster/systems";
import { assertAddresses, assertNames, assertSettings } from "../plan/validation/settings";
import { type Operation, stepFile } from "./operations";
import { AGENT_VERSION, agentConfiguration, installersOf, installerText } from "./node-agent";
import { agentRevision, stagedOn, type AgentSettings } from "../plan/rollout/node-agents";
import { proxyVariables, settingsParameters, sourceFiles, sourceParameters } from "./parameters";
import { type Owner, takeOverIssue } from "../../../lib/ownership/owner";
import { assignments, type Parameters, renderStep, commandsOf } from "./shell";

/** A script for one machine. It runs as root with bash; its secret data follows on standard input. */
export interface Script {
  operation: Operation;
  machine: string;
  text: string;
}

/** Returns a step that refuses a machine of another owner: its own file, after the frame, these files and its needs. */
export function step(
  operation: Operation,
  cluster: string,
  machine: string,
  { files = [], ...parameters }: Parameters & { files?: readonly string[] } = {},
): Script {
  const frame = ["common/frame", "common/system", "common/owner"];
  const own = { OPERATION: operation, ...ownerParameters(cluster, machine), ...parameters };
  const commands = commandsOf([...frame, ...files, stepFile(operation)]);
  return { operation, machine, text: renderStep(`${operation} ${machine}`, commands, own) };
}

/** The variables of common/owner that say which stack runs a step, before it is known. */
const NO_OWNER = { OWNER_ID: "", OWNER_STACK: "", TAKE_OVER: "" };

/** Returns the variables of the functions in common/owner; withOwner fills in those of the stack. */
export const ownerParameters = (cluster: string, machine: string) => {
  assertNames({ cluster, machine });
  return { MACHINE: machine, OWNER: markedNames(cluster, machine), ...NO_OWNER };
};

/**
 * Returns a script that knows which stack runs it, and refuses a machine of another stack.
 *
 * @param former the former owner, from which the stack takes over: an identity, or UNMARKED for an earlier release's marks
 */
export function withOwner<Each extends Script>(script: Each, owner: Owner | undefined, former = ""): Each {
  if (owner === undefined) return script;
  const issue = former === "" ? undefined : takeOverIssue(former);
  if (issue !== undefined) throw new Error(issue);
  const known = assignments("", { ...ownerVariables(owner), TAKE_OVER: former });
  return { ...script, text: script.text.replace(assignments("", NO_OWNER), () => known) };
}

/** Returns the function for a step without parameters of its own. */
export const plainStep = (operation: Operation) => (cluster: string, machine: string) =>
  step(operation, cluster, machine);

/** Records the stack as the owner on a machine that has an earlier mark. Its answer is empty. */
export const ownScript = plainStep("own");

/** A machine as the nodes reach it: a control plane behind the loopback endpoint, or any. */
export interface Backend {
  name: string;
  /** Its internal address. */
  address: string;
}

/** Returns the machines as the nodes reach them. */
export function backendsOf(machines: readonly Pick<Machine, "name" | "internalAddress">[]): Backend[] {
  return machines.map(({ name, internalAddress: address }) => ({ name, address }));
}

const addressesOf = (machines: readonly Backend[]) => machines.map(({ address }) => address);

function endpointParameters(port: number, backends: readonly Backend[]): Parameters {
  assertAddresses(backends);
  const sorted = [...backends].sort((one, other) => one.name.localeCompare(other.name));
  return { PORT: port, BACKENDS: sorted.map(({ name, address }) => `${name} ${address}:${API_SERVER_PORT}`) };
}

/** The files in /etc/cni/net.d of each pod network; those of another one are not known. */
const NETWORK_FILES: Record<PodNetworkKind, string[]> = {
  bridge: ["10-foresail.conflist"],
  cilium: ["05-cilium.conflist"],
  calico: ["10-calico.conflist"],
  flannel: ["10-flannel.conflist"],
  other: [],
};

/** Free space that a machine needs for images and pods before it is prepared. */
const LEAST_MEBIBYTES = 1024;

/** Returns the variables of the functions in common/preflight. */
export const preflightParameters = (
  { endpoint, files, kubeadm, network, source }: MachineSpecification,
  role: Machine["role"],
  podNetwork: PodNetworkKind,
): Parameters => ({
  SUPPORTED_SYSTEMS: [...SUPPORTED_SYSTEMS],
  SYSTEM_NAMES,
  DATA_PATHS: [
    "/var/lib/containerd",
    "/var/lib/kubelet",
    ...(role === "control-plane" ? [etcdDataFolder({ kubeadm })] : []),
  ],
  LEAST_MEBIBYTES: String(LEAST_MEBIBYTES),
  OWN_NETWORKS: NETWORK_FILES[podNetwork],
  // the built-in network and flannel use them, and only the community's kubelet package includes them
  NETWORK_PLUGINS: network.bridge || "bundle" in source,
  ENDPOINT: "loopback" in endpoint,
  FILE_PATHS: filesOf({ files }, role).map(({ path }) => path),
});

/** What a preparation needs to know of the machines. */
export interface PreparedFor {
  readonly machine: Pick<Machine, "name" | "internalAddress" | "role" | "group">;
  /** The control planes, for the loopback endpoint's first configuration. */
  readonly backends: readonly Backend[];
  /** The cluster's machines, which are reached without a proxy. */
  readonly machines?: readonly Backend[];
}

/** Returns the shell files of what a preparation changes, and their variables. */
export function preparationParts(specification: MachineSpecification, prepared: PreparedFor) {
  const { machine, backends, machines = [] } = prepared;
  const { name, internalAddress, role } = machine;
  const own = { name, address: internalAddress };
  assertAddresses([own, ...machines]);
  const { endpoint, kubelet, network, source, version } = specification;
  const hasLoopback = "loopback" in endpoint;
  const holdsAddress = network.holdNodeAddress ?? false;
  return {
    files: [
      ...[...sourceFiles(source), "common/preparation", "common/containerd-settings"],
      ...(hasLoopback ? ["common/endpoint"] : []),
      ...(holdsAddress ? ["common/own-address"] : []),
      ...(network.bridge ? ["common/bridge"] : []),
    ],
    parameters: {
      // those of the other source
      REPOSITORY: "",
      KEY_FINGERPRINT: "",
      BUNDLE: "",
      ...sourceParameters(specification, version),
      ADDRESS: internalAddress,
      PROXY: proxyVariables(specification, addressesOf([own, ...backends, ...machines])),
      ...settingsParameters(specification, role),
      // the node agent reads the kubelet's own file
      KEEP_SWAP: kubelet.failSwapOn === false,
      BRIDGE: network.bridge,
      HOLD_ADDRESS: holdsAddress,
      ...(hasLoopback ? endpointParameters(endpoint.loopback.port, backends) : {}),
      POD_CIDR: network.podCidr,
      SYSTEMD_CGROUP: String(kubelet.cgroupDriver !== "cgroupfs"),
    } satisfies Parameters,
  };
}

/**
 * Returns the step that prepares one machine for kubeadm. Its secret data is the registries' credentials
 * (registryCredentialsToml). Its answer is empty.
 *
 * @param backends the control planes, for the loopback endpoint's first configuration
 * @param machines the cluster's machines, which are reached without a proxy
 * @param podNetwork the pod network; files of others are refused
 */
export function prepareScript(
  cluster: ClusterSpecification,
  machine: PreparedFor["machine"],
  backends: readonly Backend[],
  machines: readonly Backend[] = [],
  podNetwork: PodNetworkKind = "other",
): Script {
  assertSettings(cluster);
  const specification = specificationOf(cluster, machine);
  const { name, role } = machine;
  const { files, parameters } = preparationParts(specification, { machine, backends, machines });
  return step("prepare", specification.name, name, {
    files: [...files, ...(parameters.KEEP_SWAP ? [] : ["common/swap"])],
    ...parameters,
    ...preflightParameters(specification, role, podNetwork),
    PREPARED: preparedVersion(specification, role),
  });
}

/** Returns the step that rewrites the loopback endpoint of one machine. Its answer is empty. */
export const endpointScript = (
  cluster: string,
  machine: string,
  port: number,
  backends: readonly Backend[],
): Script => step("endpoint", cluster, machine, endpointParameters(port, backends));

/** What a machine reports about itself. */
export interface ReportedFacts {
  /** Whether kubeadm init or join has succeeded on it. */
  member: boolean;
  /** Whether it has the files of an API server of this cluster. */
  controlPlane: boolean;
  /** Whether its mark is that of an earlier release, which names no stack; absent for false. */
  unnamed?: boolean;
  /** Whether others have reset it: it has this cluster's mark, and neither a kubelet's files nor pods. */
  reset?: boolean;
  /** The kernel's id of this boot if new packages ask for another one, otherwise empty. */
  rebootOf?: string;
  /** Its time when it answered, in seconds since 1970. */
  clock?: number;
}

/** File with the kernel's id of this boot. */
export const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** Finds out whether a machine is a member of this cluster. Answers `MachineFacts` as JSON; refuses foreign machines. */
export const factsScript = (cluster: string, machine: string) => step("facts", cluster, machine, { BOOT_ID });

/** Reboots a machine that is not a member, a second after the step has ended. Its answer is empty. */
export const rebootScript = plainStep("reboot");

/** Answers the version of the node agent that has found its machine ready, or nothing. */
export const initializedScript = plainStep("initialized");

/** Reads the administrator's kubeconfig of a control plane. Answers its text, which is secret. */
export const adminKubeconfigScript = plainStep("admin-kubeconfig");

/**
 * Runs kubeadm init, unless the machine is a member. Data: the kubeadm configuration. Its answer is empty.
 *
 * @param encryptionKey name of the key for Secrets at rest; empty to store them in plain text
 */
export const initScript = (specification: ClusterSpecification, machine: string, encryptionKey: string) =>
  step("init", specification.name, machine, {
    ENCRYPTION_KEY: encryptionKey,
    ...preparedParameters(specification, memberOf(CONTROL_PLANE_GROUP)),
  });

/** Returns the variables of the functions in common/prepared. */
const preparedParameters = (
  specification: ClusterSpecification,
  member: PoolMember,
  rolled?: RolledConfiguration,
): Parameters => ({
  PREPARED: preparedVersion(specificationOf(specification, member), member.role),
  CONFIGURATION: versionFor(configurationVersions(specification, rolled), member),
});

/**
 * Writes the cluster's configuration into kubeadm's ConfigMaps, and restarts kube-proxy if its own has changed. Data: the
 * kubeadm configuration. Its answer is empty.
 */
export const configureClusterScript = (
  cluster: string,
  machine: string,
  { upload, kubeProxy }: Pick<ConfigurationChange, "upload" | "kubeProxy">,
) => step("configure-cluster", cluster, machine, { UPLOAD: upload, KUBE_PROXY: kubeProxy });

/** Restarts kube-proxy on one node after another, and waits for it. Its answer is empty. */
export const restartKubeProxyScript = plainStep("restart-kube-proxy");

/** Reads what a new control plane needs from another one. Answers a base64 tar archive, which is secret. */
export const controlPlaneSecretsScript = plainStep("control-plane-secrets");

/** Path where the join step writes the discovery kubeconfig from its data. */
export const DISCOVERY_FILE = `${NODE_PATHS.scratch}/discovery.yaml`;

/** Returns the secret data of a join: three base64 lines, the last one empty for a worker. */
export function joinData(parts: { configuration: string; discovery: string; secrets?: string }): string {
  const encode = (text: string) => Buffer.from(text).toString("base64");
  return `${encode(parts.configuration)}\n${encode(parts.discovery)}\n${parts.secrets ?? ""}\n`;
}

/** The answer of a join that has installed the node agent, too. */
export const AGENT_INSTALLED = "agent";

/**
 * Runs kubeadm join, unless the machine is a member. Data: joinData. Answers AGENT_INSTALLED if it was to install the
 * node agent and could, otherwise nothing.
 *
 * @param agent `agentParameters`; absent to install none
 * @param rolled what the state has of the cluster's configuration
 */
export function joinScript(
  specification: ClusterSpecification,
  { name: machine, role, group }: Pick<Machine, "name" | "role" | "group">,
  { agent, rolled }: { agent?: Parameters; rolled?: RolledConfiguration } = {},
): Script {
  assertSettings(specification);
  const { name, source, version } = specification;
  const files = [...sourceFiles(source), "common/member", "common/kubeadm", "common/prepared"];
  return step(`join-${role}`, name, machine, {
    files: [...files, ...(agent ? ["common/agent-installation"] : [])],
    ...sourceParameters(specification, version),
    ...preparedParameters(specification, { role, group }, rolled),
    AGENT: agent !== undefined,
    ...agent,
  });
}

/** Makes a member whose Node was deleted register again. Its answer is empty. */
export const registerScript = plainStep("register");

/** Makes a machine whose Node was removed while it did not answer ready for a new join. Its answer is empty. */
export const forgetMembershipScript = plainStep("forget-membership");

/**
 * Returns the variables of the functions in common/agent-installation.
 *
 * @param machines the cluster's machines, which are reached without a proxy
 */
export function agentParameters(
  cluster: ClusterSpecification,
  machine: Pick<Machine, "name" | "role" | "group">,
  settings: AgentSettings,
  machines: readonly Backend[] = [],
): Parameters {
  assertSettings(cluster);
  assertAddresses(machines);
  const { annotations, staged, drift } = settings;
  const specification = specificationOf(cluster, machine);
  const installers = installersOf(specification, stagedOn(machine, staged), machine, addressesOf(machines));
  return {
    INSTALLER_PATHS: installers.map(({ path }) => path),
    INSTALLER_HEADERS: installers.map(({ header }) => header),
    INSTALLER_TEXT: installerText(specification.source),
    PATCH_FOLDERS: kubeletPatchFolders(specification),
    AGENT_CONFIGURATION: agentConfiguration({
      node: machine.name,
      annotations,
      ignorePreflightErrors: specification.ignorePreflightErrors,
      patches: patchFolders(specification),
      managed: pathsWritten(specification),
      repairs: drift === "repair",
      revision: agentRevision(machine, { agent: AGENT_VERSION, specification, ...settings }),
    }),
  };
}

/**
 * Returns the step that installs the node agent and stages the versions that it can choose from. Refuses a version that
 * the source does not have. Its answer is empty.
 *
 * @param machines the cluster's machines, which are reached without a proxy
 */
export function nodeAgentScript(
  specification: ClusterSpecification,
  machine: Pick<Machine, "name" | "role" | "group">,
  settings: AgentSettings,
  machines?: readonly Backend[],
): Script {
  return step("node-agent", specification.name, machine.name, {
    ...agentParameters(specification, machine, settings, machines),
    KUBERNETES_VERSIONS: settings.staged.kubernetes,
  });
}

/** Reads what the node agent logged last. Answers text. */
export const agentLogScript = plainStep("agent-log");

/** Takes the API server of a leaving control plane out of service. Its answer is empty. */
export const leaveControlPlaneScript = plainStep("leave-control-plane");

/** Resets a machine. Changes nothing on a machine that does not belong to this cluster. Its answer is empty. */
export const resetScript = plainStep("reset");
