import { resourceClass } from "../../../lib/pulumi/dynamic-resource";
import type { AdminCredentials } from "../machine/cluster/kubeconfig";
import type { Owner } from "../../../lib/ownership/owner";
import type { RecordedMachine } from "../plan/facts/ownership";
import type { JumpHost, Machine, SshCredentials } from "../plan/cluster/machine";
import type { OwnedKeys } from "../plan/membership/nodes";
import type { FormerNodes } from "../plan/membership/plan";
import type { RolledConfiguration } from "../plan/configuration/rolled-configuration";
import type { CertificateSettings } from "../plan/certificates/report";
import type { BackupSettings } from "../plan/backup/backup";
import type { DriftSetting } from "../plan/drift/drift";
import type { PodNetworkKind } from "../plan/endpoint/network-ports";
import type { AgentSettings } from "../plan/rollout/node-agents";
import type { RolloutSettings } from "../plan/rollout/desired";
import type { ClusterSpecification } from "../plan/cluster/specification";
import type { UnreachableLimit } from "../plan/membership/unreachable";

/** Time limits for each kind of work, in seconds. */
export interface Timeouts {
  /** Time limit for a machine to answer SSH. */
  ssh: number;
  /** Time limit of one connection attempt; absent in state of older releases. */
  dial?: number;
  prepare: number;
  init: number;
  join: number;
  ready: number;
  /** Time limit of a change of one node; absent for the default. */
  change?: number;
}

/** Options for draining nodes before they leave. */
export interface DrainSettings {
  timeoutSeconds: number;
  /** Limit of the wait until volumes are detached from a node that leaves; absent in state of older releases. */
  volumeDetachSeconds?: number;
  deleteEmptyDirData: boolean;
  /** Whether pods without a controller may be deleted for good. */
  force: boolean;
}

/** Inputs of every resource of a kubeadm cluster, with which its handlers reach the machines. */
export interface ClusterInputs {
  __provider: string;
  specification: ClusterSpecification;
  /** "project/stack", for leases, the history and the API server's log; absent in state of older releases. */
  stack?: string;
  /** This stack as the owner of the machines; its id is "" if `--target` leaves it out. Absent in state of older releases. */
  owner?: Owner;
  jumpHost?: JumpHost;
  /** Always secret. */
  credentials: SshCredentials;
  timeouts: Timeouts;
  /** Set by check. */
  steps?: string[];
}

/** Inputs of a resource for all machines of the cluster, in the order of the configuration. */
export interface MachinesInputs extends ClusterInputs {
  machines: Machine[];
}

/** Inputs of a resource that writes into the cluster's own objects. */
export interface ConfigurationInputs extends MachinesInputs {
  /** Names in the certificates of API servers, by machine, where that of `apiServer` is not in them; absent for none. */
  serverNames?: Record<string, string>;
}

/** A member of the cluster in the stack's outputs. */
export interface NodeOutput {
  name: string;
  role: "control-plane" | "worker";
  version: string;
  address: string;
  /** When the first certificate ends that kubeadm renews, of a control plane whose agent reports it; as RFC 3339. */
  certificatesExpire?: string;
}

export interface HostKeyInputs {
  /** Name of the machine. */
  machine: string;
  address: string;
  port: number;
  jumpHost?: JumpHost;
  credentials: SshCredentials;
  timeoutSeconds: number;
}

/** The SSH host key of a machine without a configured one: read at first contact, then pinned. */
export class HostKey extends resourceClass<
  HostKeyInputs,
  HostKeyInputs & {
    /** "ssh-ed25519 AAAA…" */
    hostKey: string;
  }
>("kubeadm/HostKey", { outputs: ["hostKey"] }) {}

/** What a cluster wants of machines that become nodes, for the table of facts. Secret if its specification is. */
export interface DesiredMachines {
  specification: ClusterSpecification;
  podNetwork: PodNetworkKind;
  /** Addresses by which the nodes reach each other, by machine. */
  internalAddresses: Record<string, string>;
}

export interface ClusterOwnerInputs extends Pick<
  ClusterInputs,
  "credentials" | "jumpHost" | "timeouts" | "steps"
> {
  __provider: string;
  specification: { name: string };
  owner: Owner;
  /** The machines of the cluster, with how SSH reaches them. */
  machines: RecordedMachine[];
  /** Names of dead machines. */
  lost: string[];
  /** Identity of the former owner, from which the stack takes over; absent for none. */
  takeOver?: string;
  /** Whether others made the cluster, so that its machines are released and never reset; absent if foresail did. */
  adopts?: true;
  /** Whether the stack itself makes the machines, and deletes them; absent for machines that exist. */
  provided?: true;
  /** Only read by check; absent in state of older releases, and where machines are adopted. */
  desired?: DesiredMachines;
  /** SHA-256 of the registries' credentials, for machines that have some. Only read by check, which leaves it out of the state. */
  credentialsSum?: string;
  /** Set by check: machines that left the configuration, and whose marks were not seen gone. */
  former?: RecordedMachine[];
}

/**
 * Whose the machines of a cluster are. Its check reads the marks of machines that are new to the state, before anything is
 * recorded, and refuses those of other stacks and clusters. What it records outlives a run that is killed: when it is
 * deleted, after everything else, it gives back the machines that have the stack's mark (docs/adr/0071-ownership.md).
 */
export class ClusterOwner extends resourceClass<ClusterOwnerInputs, ClusterOwnerInputs, "former">(
  "kubeadm/ClusterOwner",
  { outputs: ["former"] },
) {}

/** What a stack that adopts its cluster needs to give it back. */
interface AdoptInputs {
  /** Pattern of the annotation keys. */
  annotations: string;
  /** Whether a destroy resets the machines; absent for a release. */
  reset?: true;
}

export interface ClusterInitInputs extends ConfigurationInputs {
  /** Identity of the former owner, from which the stack takes over; absent for none. */
  takeOver?: string;
  /** The stack makes the machines, and deletes those that leave: nothing is left on them to reset. */
  provided?: true;
  /** Name of the network plugin. Only compared; absent in state of older releases. */
  networkPlugin?: string;
  /** Only for a cluster that foresail did not make. */
  adopt?: AdoptInputs;
  /** Set by check: names of the machines that were adopted; the others joined. Only with `adopt`. */
  adopted?: string[];
  /** Always secret. Only compared, so that a change is reported. Absent in state of older releases. */
  registryCredentials?: Record<string, { username: string; password: string }>;
  /** Set by check: the generation of the first encryption key, if it is not 1. */
  initialKeyGeneration?: number;
  /** Set by check: the configuration of the nodes as it rolls out; absent until it changes for the first time. */
  configuration?: RolledConfiguration;
}

export interface ClusterInitOutputs extends ClusterInitInputs {
  /** Machines that were in the configuration earlier. */
  former?: Machine[];
}

/**
 * The cluster itself: runs kubeadm init on the first control plane, unless any control plane is a member already, and
 * kubeadm reset on every machine when it is destroyed (docs/adr/0006-init-and-reset.md). With `adopt` it claims the members
 * of a cluster that exists, and releases them when it is destroyed.
 */
export class ClusterInit extends resourceClass<
  ClusterInitInputs,
  ClusterInitInputs,
  "initialKeyGeneration" | "adopted" | "configuration"
>("kubeadm/ClusterInit", {
  outputs: ["initialKeyGeneration", "adopted", "configuration"],
  secrets: ["registryCredentials"],
}) {}

/** The machines are the control planes; the credentials are read from one that is ready. */
export type AdminKubeconfigInputs = MachinesInputs;

export interface AdminKubeconfigOutputs extends AdminKubeconfigInputs {
  admin: AdminCredentials;
  /** Name of a control plane that answered at the last create or update. */
  healthy: string;
}

/**
 * The administrator's credentials of the cluster. Routine changes of machines or labels do not touch it, so a preview
 * of scaling knows the kubeconfig. It changes when the certificate expires, or when the kubeconfig's control plane no
 * longer answers.
 */
export class AdminKubeconfig extends resourceClass<AdminKubeconfigInputs, AdminKubeconfigOutputs>(
  "kubeadm/AdminKubeconfig",
  { outputs: ["admin", "healthy"], secrets: ["admin"] },
) {}

export interface LoopbackEndpointInputs extends MachinesInputs {
  /** How many unreachable machines an update may leave out; absent for none. */
  unreachable?: UnreachableLimit;
  /** Secret, with permission to read the Nodes; only with `unreachable`. */
  kubeconfig?: string;
  /** Set by check: unreachable machines, which keep the earlier control planes until a later run; absent for none. */
  leftOut?: string[];
}

/**
 * The forwarder on 127.0.0.1 of every node, rewritten when the control planes change. A machine's preparation writes
 * its first configuration, so adding workers changes nothing here.
 */
export class LoopbackEndpoint extends resourceClass<
  LoopbackEndpointInputs,
  LoopbackEndpointInputs,
  "leftOut"
>("kubeadm/LoopbackEndpoint", { secrets: ["kubeconfig"] }) {}

/** Inputs of an EncryptionKey: its generation is that of the specification, and the machines are the control planes. */
export interface EncryptionKeyInputs extends MachinesInputs {
  /** Secret. */
  kubeconfig: string;
  /** Generation of the key with which kubeadm init began, if it is not 1. */
  initialKeyGeneration?: number;
}

/**
 * The key that encrypts Secrets in etcd, after the first one. A new generation is a rollout of its own: the new key is
 * added on every control plane, made the first one, every Secret is rewritten, and the old keys are removed
 * (docs/security.md).
 */
export class EncryptionKey extends resourceClass<EncryptionKeyInputs>("kubeadm/EncryptionKey", {
  secrets: ["kubeconfig"],
}) {}

/** The machines are the control planes; absent in state of older releases, as the credentials are. */
export interface ReaderAccountInputs extends ConfigurationInputs {
  kubeconfig: string;
  /** Only of a cluster that foresail did not make. */
  adopted?: true;
  /** Pattern of the annotation keys, which contains `[software]`; absent in state of older releases. */
  annotations: string;
  /** Set by check: whether the cluster has the annotation policy; absent in state of older releases. */
  hasAnnotationPolicy?: boolean;
  /** Identity of the former owner, from which the stack takes over; absent for none. */
  takeOver?: string;
  /** From the ClusterInit. If there is one, its annotations are protected, too. */
  configuration?: RolledConfiguration;
  /** What is done about files that others change; absent for a report. */
  drift?: DriftSetting;
  /** Set by check: whether the annotations that report such files are protected, too; absent until they are. */
  protectsDrift?: boolean;
  /** Set by check: whether the annotations that report and renew certificates are protected, too; absent until they are. */
  protectsCertificates?: boolean;
  /** Whether agents report updates of the operating system; absent for no. */
  reportsUpdates?: true;
  /** Set by check: whether the annotations of these updates are protected, too; absent until they are. */
  protectsUpdates?: boolean;
  /**
   * Set by check: whether the Lease and the history are compared, too, and the read-only account may compare; absent until
   * they are.
   */
  comparesAll?: boolean;
  /** Set by check: the objects that are in the cluster after this run. */
  objects?: object[];
}

/**
 * Who may do what with the cluster's Nodes: the account kube-system/foresail-reader, which lets a preview run without
 * write permission, and the admission policy that protects the annotations between foresail and the node agents. Its check
 * compares every object that foresail keeps in the cluster with what it wrote, and its update restores them. No
 * machine joins before its update, which also takes back what an interrupted run left in the cluster's own objects: its
 * check is the first one that can read the cluster (docs/adr/0055-configuration-record.md).
 */
export class ReaderAccount extends resourceClass<
  ReaderAccountInputs,
  ReaderAccountInputs,
  | "objects"
  | "hasAnnotationPolicy"
  | "protectsDrift"
  | "protectsCertificates"
  | "protectsUpdates"
  | "comparesAll"
>("kubeadm/ReaderAccount", { secrets: ["kubeconfig"] }) {}

export interface NodeGroupInputs extends MachinesInputs {
  /** "control-plane", or the name of a worker pool. Its machines are this group's; a change joins and removes some. */
  group: string;
  /** All control planes; one that is ready provides what a join needs. */
  controlPlanes: Machine[];
  /** Names of dead machines that are no longer in the configuration. */
  lost: string[];
  /** Names of machines that were adopted as members: their Nodes need labels, and no join. Only with `adopt`. */
  adopted?: string[];
  /**
   * Names of the machines of all other groups, whose Nodes this group ignores; absent in state of older releases.
   */
  elsewhere?: string[];
  /** Set by check; absent in state of older releases. */
  owned?: OwnedKeys;
  /** Set by check: Nodes that leave; absent when there are none. */
  former?: FormerNodes;
  /** From the ClusterOwner: machines that left the configuration; absent for none, and where the stack makes the machines. */
  begun?: RecordedMachine[];
  /** Set by check: those of them that an interrupted run prepared or joined; absent for none. */
  interrupted?: RecordedMachine[];
  /** Set by check: names of machines that were reset by hand, although their Nodes are in the cluster; absent for none. */
  reset?: string[];
  /**
   * Names of machines by configured worker pool, so that removed pools are found; only for the control planes' group.
   * Absent in state of older releases.
   */
  pools?: Record<string, string[]>;
  /** Set by check: pools that are no longer configured, and have Nodes. */
  leaving?: Record<string, string[]>;
  /** From the ClusterInit; only for the control planes' group, and absent until the configuration changes for the first time. */
  configuration?: RolledConfiguration;
  /** The cluster's pod network, whose files machines may have; absent in state of older releases. No reason for a change. */
  podNetwork?: PodNetworkKind;
  /** Another one prepares the machines again; absent for none, and in state of older releases. No reason for a change. */
  bootstrapRevision?: string;
  /**
   * By machine a value that is unknown until its preparation has run. Only read by check, which leaves it out of the state.
   */
  preparations?: Record<string, string>;
  /** SHA-256 of the registries' credentials, for machines that have some. Only read by check, which leaves it out of the state. */
  credentialsSum?: string;
  /** The agents that machines get while they join; absent in state of older releases. No reason for a change. */
  agents?: AgentSettings;
  /** Secret. */
  kubeconfig: string;
  drain: DrainSettings;
}

export interface NodeGroupOutputs extends NodeGroupInputs {
  /** Machines that have joined this group or have not completely left it, with how to reach them. */
  members: Machine[];
  nodes: NodeOutput[];
}

/**
 * The membership of one node group. Control planes join one at a time, workers in parallel. Nodes that leave are
 * cordoned, drained, removed from etcd, reset and deleted, highest index first. The input `steps` lists what will
 * happen, so that `pulumi preview --diff` prints it.
 */
export class NodeGroup extends resourceClass<
  NodeGroupInputs,
  NodeGroupOutputs,
  "owned" | "former" | "leaving" | "interrupted" | "reset"
>("kubeadm/NodeGroup", { outputs: ["nodes", "members"], secrets: ["kubeconfig"] }) {}

export interface NodeAgentsInputs extends MachinesInputs, AgentSettings {
  /** Secret, with permission to read the Nodes; absent in state of older releases. */
  kubeconfig?: string;
  /** How many unreachable machines may be left out; absent for workers only, which fail the rollout later. */
  unreachable?: UnreachableLimit;
  /** Set by check. */
  agent: string;
  /** Set by check: unreachable machines that have work to do; absent in state of older releases. */
  leftOut?: string[];
  /** From the ClusterInit; absent until the configuration changes for the first time. */
  configuration?: RolledConfiguration;
}

export interface NodeAgentsOutputs extends NodeAgentsInputs {
  /** Machines that a run did not reach, or whose agent could not be installed. */
  pending: string[];
}

/**
 * The agent on every node, and the versions staged there. The agent installs nothing by itself: it follows the
 * annotations that a rollout writes, and uses only what is staged. It is a resource of its own, so that clusters which
 * are older than the agent get it, too.
 */
export class NodeAgents extends resourceClass<NodeAgentsInputs, NodeAgentsOutputs, "agent" | "leftOut">(
  "kubeadm/NodeAgents",
  { outputs: ["pending"], secrets: ["kubeconfig"] },
) {}

/**
 * Inputs of a NodeRollout: the specification's `version` is the desired version of every machine, and the machines are
 * in rollout order within each group.
 */
export interface NodeRolloutInputs extends MachinesInputs {
  rollout: RolloutSettings;
  /** Secret. */
  kubeconfig: string;
  drain: DrainSettings;
  /** Names of machines that a later run replaces or removes; absent for none. */
  leavingLater?: string[];
  /** Set by check: workers that the preview left out; absent in state of older releases. */
  leftOut?: string[];
  /** What is done about files that others change; absent for a report. */
  drift?: DriftSetting;
  /** When certificates are renewed; absent for the default. */
  certificates?: CertificateSettings;
  /** Set by check: names of the control planes whose certificates this run renews; absent for none. */
  renewing?: string[];
  /** Set by check: names of the machines whose kubelets get new certificates; absent for none. */
  renewingKubelets?: string[];
  /** Set by check: by machine, what asks for the updates of its operating system that this run installs; absent for none. */
  updating?: Record<string, string>;
  /** Set by check: names of the machines that report these updates; absent where they are not asked to. */
  reportingUpdates?: string[];
  /** From the ClusterInit; absent until the configuration changes for the first time. */
  configuration?: RolledConfiguration;
  /** Paths of the files whose content is secret, which no preview shows; absent for none. */
  secretFiles?: string[];
  /** Only of a cluster that foresail did not make. */
  adopted?: true;
  /** Where a snapshot is kept before a control plane changes; absent for none. */
  backup?: BackupSettings;
}

export interface NodeRolloutOutputs extends NodeRolloutInputs {
  /** The members of the cluster after the rollout. */
  nodes: NodeOutput[];
  /** The version of the cluster itself, as stored by kubeadm. */
  version: string;
}

/**
 * The versions of a running cluster: control planes roll one at a time, then the worker pools, by the annotations that
 * the node agents follow. The input `steps` lists what will happen on each node, so that `pulumi preview --diff` prints
 * it.
 */
export class NodeRollout extends resourceClass<
  NodeRolloutInputs,
  NodeRolloutOutputs,
  "leftOut" | "renewing" | "renewingKubelets" | "updating" | "reportingUpdates"
>("kubeadm/NodeRollout", { outputs: ["nodes", "version"], secrets: ["kubeconfig"] }) {}
