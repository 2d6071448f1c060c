import type * as pulumi from "@pulumi/pulumi";
import type { MachineGroup } from "../../providers/tumblebug/plan/groups";
import type { Generation } from "../../providers/tumblebug/plan/model";
import type { EndpointArgs, KubeadmClusterArgs } from "../kubeadm/kubeadm-cluster-args";

/** Options for the CB-Tumblebug server. */
export interface ServerArgs {
  /** URL with the path: "http://localhost:1323/tumblebug". */
  address: string;
  /** Whether to accept plain http to another host, although the network then sees the credentials. @default false */
  allowHttp?: boolean;
  /** API generation. @default detected from the server */
  generation?: Generation | "auto";
  /** @default $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD */
  credentials?: pulumi.Input<{ username: string; password: string }>;
  /** PEM certificates to trust in addition to the system's. */
  caBundle?: string;
}

/** CIDR blocks that may connect to the machines. */
export interface AccessArgs {
  ssh: string[];
  api: string[];
  nodePorts: string[];
  /** Public blocks of machines in other connections, if nodes communicate over the Internet. */
  nodes: string[];
}

/** How nodes connect to the API servers; `nlb` is a cloud load balancer that the stack creates. */
export type TumblebugEndpointArgs = EndpointArgs | { nlb: { port: number } };

export interface TumblebugClusterArgs {
  server: ServerArgs;
  /** Namespace of all objects on the server. */
  namespace: string;
  /** Whether to create the namespace if it does not exist. @default false */
  createNamespace?: boolean;
  /** Name of the MCIS, or infra. @default the cluster's name */
  infrastructure?: string;
  /** Connections of the server, each to a region of a cloud; `cidr` is the CIDR block of the VNet there. */
  connections: { name: string; cidr?: string }[];
  groups: MachineGroup[];
  /** `cidr` is the CIDR block from which VNets without their own block get one. */
  network: { cidr: string };
  /** Addresses at which nodes reach each other. */
  nodeAddresses: "private" | "public";
  endpoint?: TumblebugEndpointArgs;
  access: AccessArgs;
  /** Name prefix of the objects that VMs are created from, and whether to keep them on delete. */
  resources: { prefix?: string; keepOnDelete: boolean };
  /** SSH user of the machines, with sudo. */
  user: string;
  /** SSH port of the machines; the firewall opens it. @default the port that the server reports for each VM, firewall: 22 */
  sshPort?: number;
  /** Slot → number of requested replacements of its machine: {"w-2": 1}. */
  replace?: Record<string, number>;
  /** Names of lost machines. */
  lost?: string[];
  timeouts: {
    /** Until the VMs have started, or are gone. */
    machinesSeconds: number;
  };
  /** Whether to accept connections to CB-Spider's simulated clouds. @default false */
  allowMock?: boolean;
  /** The cluster on the machines. */
  cluster: Omit<KubeadmClusterArgs, "machines" | "endpoint" | "lost">;
}
