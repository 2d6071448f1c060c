import type * as pulumi from "@pulumi/pulumi";
import type { CloudConfSections } from "../../providers/openstack/plan/cloud-conf";
import type { JsonObject } from "../../lib/merge";
import type { Pool } from "../../providers/openstack/plan/machine";
import type { EndpointArgs, KubeadmClusterArgs } from "../kubeadm/kubeadm-cluster-args";

/** Network of the machines. */
export type NetworkArgs = OwnNetworkArgs | ExistingNetworkArgs;

/** A network, subnet and router that the stack creates. */
export interface OwnNetworkArgs {
  /** IPv4 CIDR block of the machines. */
  cidr: string;
  /** Name servers of the subnet; the cloud's default when empty. */
  dnsNameservers: string[];
  /** Name or id of the external network of the router and the floating IPs. */
  externalNetwork: string;
}

/** An existing network that already has a route to the outside. */
export interface ExistingNetworkArgs {
  id: string;
  /** IPv4 CIDR block of the network from which machines get their addresses. */
  cidr: string;
  /** Name or id of the external network that floating IPs come from. */
  externalNetwork?: string;
}

/** CIDR blocks that may connect to the machines from outside the cluster. */
export interface AccessArgs {
  ssh: string[];
  api: string[];
  nodePorts: string[];
}

/** How nodes connect to the API servers; `octavia` is a load balancer that the stack creates. */
export type OpenstackEndpointArgs = EndpointArgs | { octavia: { floatingIp: boolean } };

/** Overrides for a Helm chart of the cloud provider. */
export interface CloudChartArgs {
  /** @default the version that foresail chooses */
  version?: string;
  /** Values merged over foresail's. */
  values?: JsonObject;
}

/** Options for the cloud controller manager and the Cinder CSI driver. */
export interface CloudProviderArgs {
  enabled: boolean;
  /** URL of the repository with both charts (https:// or oci://). @default the repository of the Kubernetes project */
  repository?: string;
  /** Settings of cloud.conf, merged over foresail's. */
  cloudConf?: CloudConfSections;
  cloudControllerManager?: CloudChartArgs;
  cinder?: CloudChartArgs & {
    /** @default true */
    enabled?: boolean;
  };
  /** Application credential for both; when absent, the stack creates one for the cluster. */
  applicationCredential?: pulumi.Input<{ id: string; secret: string }>;
}

export interface OpenstackClusterArgs {
  /** Entry of clouds.yaml; OS_CLOUD or the OS_… variables when absent. */
  cloud?: string;
  region?: string;
  network: NetworkArgs;
  /** SSH key of new machines: the line of a .pub file. */
  keypair: { publicKey: string };
  /** cloud-init's user data for new machines. */
  userData?: string;
  pools: Pool[];
  endpoint?: OpenstackEndpointArgs;
  access: AccessArgs;
  /** SSH port of the machines. @default 22 */
  sshPort?: number;
  /** Slot → number of requested replacements of its machine: {"w-2": 1}. */
  replace?: Record<string, number>;
  cloudProvider: CloudProviderArgs;
  /** The cluster on the machines. */
  cluster: Omit<KubeadmClusterArgs, "machines" | "endpoint" | "lost">;
}
