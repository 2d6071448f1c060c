import type * as pulumi from "@pulumi/pulumi";
import type { StateResources } from "../../lib/pulumi/state-resources";
import type { MachineGroup } from "../../providers/tumblebug/plan/groups";
import type { Generation } from "../../providers/tumblebug/plan/model";
import type { EndpointArgs, KubeadmClusterArgs } from "../kubeadm/kubeadm-cluster-args";

/** The server. */
export interface ServerArgs {
  /** With the path: "http://localhost:1323/tumblebug". */
  address: string;
  /** @default found out from the server */
  generation?: Generation | "auto";
  /** $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD when absent. */
  credentials?: pulumi.Input<{ username: string; password: string }>;
  /** PEM, to trust beside those of the system. */
  caCertificates?: string;
}

/** Blocks of addresses that may reach the machines. */
export interface AccessArgs {
  ssh: string[];
  api: string[];
  nodePorts: string[];
  /** From which the machines of other connections come, when they talk over the Internet. */
  nodes: string[];
}

/** How nodes find an API server; `nlb` is a load balancer of the cloud, made by the stack. */
export type TumblebugEndpointArgs = EndpointArgs | { nlb: { port: number } };

export interface TumblebugClusterArgs {
  server: ServerArgs;
  /** Namespace of everything that is made. */
  namespace: string;
  /** Make the namespace unless it is there. @default false */
  createNamespace?: boolean;
  /** Name of the MCIS, or infra. @default the cluster's name */
  infrastructure?: string;
  /** Clouds' regions, as the server has them; `cidr` is the block of the VNet there. */
  connections: { name: string; cidr?: string }[];
  groups: MachineGroup[];
  /** Block that the VNets without one of their own take theirs from. */
  networkCidr: string;
  /** By which addresses the nodes reach each other. */
  nodeAddresses: "private" | "public";
  endpoint?: TumblebugEndpointArgs;
  access: AccessArgs;
  /** How the objects that VMs are made from are called, and whether they stay. */
  resources: { prefix?: string; keepOnDelete: boolean };
  /** Who logs in to the machines, with sudo. */
  user: string;
  /** Port of SSH. @default 22 */
  sshPort?: number;
  /** Place → how often its machine was asked to be replaced: {"w-2": 1}. */
  replace?: Record<string, number>;
  /** Machines that are dead. */
  lost?: string[];
  /** How long the VMs may need to come up, in seconds. */
  timeoutSeconds: number;
  /** Take connections to CB-Spider's pretended clouds. @default false */
  allowMock?: boolean;
  /** The cluster on the machines. */
  cluster: Omit<KubeadmClusterArgs, "machines" | "endpoint" | "lost">;
  /** What the stack's state has as the run begins; `readStackResources()` reads it. */
  existing: StateResources;
}
