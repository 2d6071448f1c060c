import type { RegistryHost } from "../../providers/kubeadm/plan/configuration/registries";
import type * as pulumi from "@pulumi/pulumi";
import type { Profile } from "../../providers/kubeadm/plan/hardening/profile";
import type {
  Authentication,
  ClusterSpecification,
  ProxyCredentials,
  SoftwareSource,
} from "../../providers/kubeadm/plan/cluster/specification";
import type { Role, Taint } from "../../providers/kubeadm/plan/cluster/machine";
import type { JsonObject } from "../../lib/merge";
import type { DriftSetting } from "../../providers/kubeadm/plan/drift/drift";
import type { RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";

/** A machine that is reachable over SSH. Its name and role are plain values, since they decide which resources exist. */
export interface MachineArgs {
  /** Name of the machine and of its Node: a DNS label. */
  name: string;
  role: Role;
  /** Worker pool; workers only. @default "workers" */
  pool?: string;
  /** Address for SSH. */
  address: pulumi.Input<string>;
  /** Port for SSH. @default 22 */
  port?: pulumi.Input<number>;
  /** A user with passwordless sudo, or root. @default ssh.user */
  user?: pulumi.Input<string>;
  /** Private key, when it differs from the cluster's. */
  privateKey?: pulumi.Input<string>;
  /** "ssh-ed25519 AAAA…". Without it the key is read at first contact and pinned. */
  hostKey?: pulumi.Input<string>;
  /** Address by which the other nodes reach the machine. @default address */
  internalAddress?: pulumi.Input<string>;
  /** host:port of the machine's API server as seen from where Pulumi runs. @default "<address>:6443" */
  apiServer?: pulumi.Input<string>;
  /** Name in the API server's certificate, if the address is not in the certificate. @default the address */
  certificateName?: string;
  labels?: pulumi.Input<Record<string, string>>;
  taints?: Taint[];
}

/** How to reach the machines over SSH. Without a private key, the agent at SSH_AUTH_SOCK is used. */
export interface SshArgs {
  /** @default "root" */
  user?: pulumi.Input<string>;
  privateKey?: pulumi.Input<string>;
  /** Private keys of machines by their names, where they differ; a machine's own `privateKey` takes precedence. */
  privateKeys?: pulumi.Input<Record<string, string>>;
  /** Deadline of one attempt to connect. @default 15 */
  dialTimeoutSeconds?: number;
  /** Refuses machines without a `hostKey`, instead of pinning their keys at first contact. @default false */
  requireHostKeys?: boolean;
  jumpHost?: {
    address: pulumi.Input<string>;
    port?: pulumi.Input<number>;
    user?: pulumi.Input<string>;
    hostKey: pulumi.Input<string>;
    privateKey?: pulumi.Input<string>;
  };
}

/** The pod network. */
export type NetworkPlugin =
  /** Built in, for flat networks: each node answers ARP for its pods. Needs no download. */
  | { bridge: Record<string, never> }
  | { cilium: ChartValues }
  | { calico: ChartValues }
  | { flannel: ChartValues }
  /** None: an adopted cluster keeps its own. */
  | { none: Record<string, never> }
  /** A YAML file, by path or URL. */
  | { manifest: { path: string } | { url: string; digest?: string } }
  | { chart: ChartArgs };

export interface ChartValues {
  /** Chart version. @default the release that foresail knows */
  version?: string;
  /** Digest of the chart's archive, "sha256:…". @default the one that foresail knows for its own version, if any */
  digest?: string;
  values?: JsonObject;
}

export interface ChartArgs extends ChartValues {
  /** Chart name in its repository, an OCI reference, or a local path. */
  chart: string;
  repository?: string;
  namespace: string;
}

/** How nodes find an API server: haproxy on each node, or an external address that foresail does not manage. */
export type EndpointArgs =
  | { loopback: { /** @default 7445 for a new cluster; an existing one keeps its own */ port?: number } }
  | { external: { host: pulumi.Input<string>; port: number } };

/** How versions roll out. Omitted fields have the defaults of a stack's configuration. */
export type RolloutArgs = Partial<RolloutSettings>;

export interface KubeadmClusterArgs {
  /** Kubernetes version, MAJOR.MINOR.PATCH. A change is rolled out over the nodes. */
  version: string;
  machines: MachineArgs[];
  ssh?: SshArgs;
  /** Source of the Kubernetes software. @default the community's apt repository */
  source?: SoftwareSource;
  /** How nodes find an API server. @default haproxy on each node */
  endpoint?: EndpointArgs;
  /** @internal Reads `endpoints.nodes` of the stack's last run, for an endpoint without a port. @default from the resources */
  nodesEndpoint?: () => Promise<unknown>;
  /** host:port of a load balancer for users, at `endpoint.external` or a name of `certificateNames`. @default none */
  loadBalancer?: pulumi.Input<string>;
  /** Additional names and addresses in the certificates of the API servers. */
  certificateNames?: pulumi.Input<string>[];
  network?: {
    /** @default "10.244.0.0/16" */
    podSubnet?: string;
    /** @default "10.96.0.0/12" */
    serviceSubnet?: string;
    /** @default "cluster.local" */
    dnsDomain?: string;
    /** @default flannel */
    plugin?: NetworkPlugin;
    /** Puts a machine's internal address on it when no device has it, on a cloud that translates. @default false */
    holdNodeAddress?: boolean;
  };
  /**
   * Takes over the kubeadm cluster that the machines are members of, instead of creating one. Needs the network plugin
   * `none` and `encryptSecretsAtRest: false`. @default false
   */
  adopt?: boolean;
  /** Resets the machines of an adopted cluster on destroy, instead of releasing them. @default false */
  resetOnDestroy?: boolean;
  /**
   * Identity of another stack, from which this one takes the cluster over: a refusal names it. "unmarked" for machines that
   * an earlier release marked. May stay in the program afterwards. @default none
   */
  takeOver?: string;
  /** @internal Whether the program itself makes the machines, which it deletes with the cluster. @default false */
  provided?: boolean;
  /** Refuses to delete the cluster, until this is off and an update has run. @default false */
  deletionProtection?: boolean;
  /** Names of dead machines that were removed from `machines`. */
  lost?: string[];
  /** Names of machines that a later update replaces or removes; until then their versions do not change. @default none */
  leavingLater?: string[];
  /** Accepts an even number of control planes, which tolerates no more failures than one fewer. @default false */
  allowEvenControlPlanes?: boolean;
  /** Settings that harden the cluster, before those of `kubeadm` and `kubelet`. @default none */
  profile?: Profile;
  /** Issuers of OpenID Connect tokens that the API servers accept. @default none */
  authentication?: Authentication;
  /** Objects merged into kubeadm's own as the last step. */
  kubeadm?: ClusterSpecification["kubeadm"];
  /** Merged into the KubeletConfiguration. */
  kubelet?: JsonObject;
  /** Merged into the KubeProxyConfiguration. */
  kubeProxy?: JsonObject;
  /** Files written to every machine before Kubernetes starts. */
  files?: { path: string; content: pulumi.Input<string>; mode?: string; owner?: string }[];
  /** HTTP proxy of the machines. Its credentials are always secret, and so is every input of a resource with them. */
  proxy?: {
    http?: string;
    https?: string;
    noProxy?: string[];
    credentials?: pulumi.Input<ProxyCredentials>;
  };
  registries?: {
    /** Registry host → mirror URLs. */
    mirrors?: Record<string, string[]>;
    /** Registry host → URL that is asked after the mirrors. @default the registry itself */
    servers?: Record<string, string>;
    /** How mirrors and servers are asked, by their URLs. */
    hosts?: Record<string, RegistryHost>;
    /** Registry host → credentials. Always secret. */
    credentials?: pulumi.Input<Record<string, { username: string; password: string }>>;
  };
  imageRepository?: string;
  /** Additional CA certificates to trust, PEM. */
  caBundle?: pulumi.Input<string>;
  /** @default true */
  encryptSecretsAtRest?: boolean;
  /** Generation of the key that encrypts Secrets in etcd; a higher number rotates it. @default 1 */
  encryptionKeyGeneration?: number;
  ignorePreflightErrors?: string[];
  /** How versions roll out over the nodes. */
  rollout?: RolloutArgs;
  /** When the certificates that kubeadm has signed are renewed. */
  certificates?: {
    /** Days before the first of them ends; 0 for never. @default 30 */
    renewBeforeDays?: number;
  };
  /** Whether files that others change on a machine are reported or put back. @default "report" */
  drift?: DriftSetting;
  /** Where a snapshot of etcd is kept before control planes change. @default no snapshots */
  backup?: {
    /** On the machine that runs the program; a relative path is below its folder. */
    folder: string;
    /** Public keys of age. */
    recipients: string[];
    /** How many snapshots stay. @default 10 */
    keep?: number;
    /** Snapshots that are older do not stay. @default no limit */
    keepDays?: number;
  };
  drain?: {
    timeoutSeconds?: number;
    /** How long a machine that leaves waits after its drain until its CSI volumes are detached. @default 300 */
    volumeDetachSeconds?: number;
    deleteEmptyDirData?: boolean;
    force?: boolean;
  };
  timeouts?: {
    /** Until a machine answers SSH. @default 300 */
    sshSeconds?: number;
    /** @default 900 */
    prepareSeconds?: number;
    /** @default 600 */
    initSeconds?: number;
    /** @default 600 */
    joinSeconds?: number;
    /** Until a Node is Ready. @default 600 */
    readySeconds?: number;
  };
  /** A change of this value prepares again every machine that has not joined. */
  bootstrapRevision?: string;
}
