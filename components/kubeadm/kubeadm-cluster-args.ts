import type * as pulumi from "@pulumi/pulumi";
import type { SoftwareSource } from "../../providers/kubeadm/plan/specification";
import type { Role, Taint } from "../../providers/kubeadm/plan/machine";
import type { JsonObject } from "../../lib/merge";
import type { RolloutSettings } from "../../providers/kubeadm/plan/rollout/settings";

/** One machine that answers SSH. Its name and role are plain, since they decide which resources exist. */
export interface MachineArgs {
  /** Name of the machine and of its Node: a DNS label. */
  name: string;
  role: Role;
  /** Worker pool; workers only. @default "workers" */
  pool?: string;
  /** What SSH dials. */
  address: pulumi.Input<string>;
  /** @default 22 */
  port?: pulumi.Input<number>;
  /** A user with passwordless sudo, or root. @default ssh.user */
  user?: pulumi.Input<string>;
  /** Private key, when it differs from the cluster's. */
  privateKey?: pulumi.Input<string>;
  /** "ssh-ed25519 AAAA…". Without it the key is read at first contact and then held. */
  hostKey?: pulumi.Input<string>;
  /** Address by which the other nodes reach it. @default address */
  internalAddress?: pulumi.Input<string>;
  /** host:port of its API server as seen from where Pulumi runs. @default "<address>:6443" */
  apiServer?: pulumi.Input<string>;
  /** Name in the API server's certificate, when its address is not in it. @default the address */
  certificateName?: string;
  labels?: pulumi.Input<Record<string, string>>;
  taints?: Taint[];
}

/** How SSH reaches the machines. Without a private key the agent of SSH_AUTH_SOCK is asked. */
export interface SshArgs {
  /** @default "root" */
  user?: pulumi.Input<string>;
  privateKey?: pulumi.Input<string>;
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
  /** Built in, for flat networks: each node answers ARP for its pods, nothing to download. */
  | { bridge: Record<string, never> }
  | { cilium: ChartValues }
  | { calico: ChartValues }
  | { flannel: ChartValues }
  /** A YAML file, by path or URL. */
  | { manifest: { path: string } | { url: string } }
  | { chart: ChartArgs };

export interface ChartValues {
  /** Chart version; the release that foresail knows when absent. */
  version?: string;
  values?: JsonObject;
}

export interface ChartArgs extends ChartValues {
  /** Chart name in its repository, an OCI reference, or a local path. */
  chart: string;
  repository?: string;
  namespace: string;
}

/** How nodes find an API server: haproxy on each node, or an address that somebody else keeps alive. */
export type EndpointArgs =
  { loopback: { port: number } } | { external: { host: pulumi.Input<string>; port: number } };

/** How versions roll out; what is left out has the default of a stack's configuration. */
export type RolloutArgs = Partial<RolloutSettings>;

export interface KubeadmClusterArgs {
  /** Kubernetes version, MAJOR.MINOR.PATCH. A change rolls out over the nodes. */
  version: string;
  machines: MachineArgs[];
  ssh?: SshArgs;
  /** Where Kubernetes comes from. @default the community's apt repository */
  source?: SoftwareSource;
  /** How nodes find an API server. @default haproxy on each node, port 8443 */
  endpoint?: EndpointArgs;
  /**
   * host:port by which people reach a load balancer in front of the API servers: the kubeconfig's current context. The
   * host is that of `endpoint.external`, or among `certificateNames`. @default none, and it names a control plane
   */
  loadBalancer?: pulumi.Input<string>;
  /** Further names and addresses in the certificates of the API servers; of a new cluster only. */
  certificateNames?: pulumi.Input<string>[];
  network?: {
    /** @default "10.244.0.0/16" */
    podCidr?: string;
    /** @default "10.96.0.0/12" */
    serviceCidr?: string;
    /** @default "cluster.local" */
    dnsDomain?: string;
    /** @default flannel */
    plugin?: NetworkPlugin;
    /**
     * Put each machine's internal address on it, when no device of it has the address: that of a cloud which
     * translates addresses on the way. @default false
     */
    holdNodeAddress?: boolean;
  };
  /** Machines that are dead and were taken out of `machines`. */
  lost?: string[];
  /** Accepts an even number of control planes, which tolerates no more failures than one less. @default false */
  allowEvenControlPlanes?: boolean;
  /** Objects merged last into kubeadm's own. */
  kubeadm?: {
    clusterConfiguration?: JsonObject;
    initConfiguration?: JsonObject;
    joinConfiguration?: JsonObject;
  };
  /** Merged into the KubeletConfiguration. */
  kubelet?: JsonObject;
  /** Merged into the KubeProxyConfiguration. */
  kubeProxy?: JsonObject;
  /** Files written to every machine before Kubernetes starts. */
  files?: { path: string; content: pulumi.Input<string>; mode?: string; owner?: string }[];
  proxy?: { http?: string; https?: string; noProxy?: string[] };
  registries?: {
    /** Registry host → mirror URLs. */
    mirrors?: Record<string, string[]>;
    /** Registry host → credentials. Always kept secret. */
    credentials?: pulumi.Input<Record<string, { username: string; password: string }>>;
  };
  imageRepository?: string;
  /** Certificates of the company, PEM. */
  caBundle?: pulumi.Input<string>;
  /** @default true */
  encryptSecretsAtRest?: boolean;
  ignorePreflightErrors?: string[];
  /** How versions roll out over the nodes. */
  rollout?: RolloutArgs;
  drain?: { timeoutSeconds?: number; deleteEmptyDirData?: boolean; force?: boolean };
  timeouts?: { ssh?: number; dial?: number; prepare?: number; init?: number; join?: number; ready?: number };
  /** A change prepares every machine that has not joined again. */
  bootstrapRevision?: string;
}
