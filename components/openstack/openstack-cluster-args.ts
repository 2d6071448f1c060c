import type * as pulumi from "@pulumi/pulumi";
import type { CloudConfSections } from "../../providers/openstack/plan/cloud-conf";
import type { JsonObject } from "../../lib/merge";
import type { Pool } from "../../providers/openstack/plan/pool";
import type { StateResources } from "../../lib/pulumi/state-resources";
import type { EndpointArgs, KubeadmClusterArgs } from "../kubeadm/kubeadm-cluster-args";

/** Where the machines lie. */
export type NetworkArgs = OwnNetworkArgs | ExistingNetworkArgs;

/** A network, subnet and router of the stack's own. */
export interface OwnNetworkArgs {
  /** IPv4 block of the machines. */
  cidr: string;
  /** Name servers of the subnet; the cloud's own when empty. */
  dns: string[];
  /** Name or id of the network that the router and floating IPs lead to. */
  externalNetwork: string;
}

/** A network that exists, with a way out of its own. */
export interface ExistingNetworkArgs {
  id: string;
  /** The IPv4 block in it that the machines get their addresses from. */
  cidr: string;
  /** Name or id of the network that floating IPs come from. */
  externalNetwork?: string;
}

/** Blocks of addresses that may reach the machines from outside the cluster. */
export interface AccessArgs {
  ssh: string[];
  api: string[];
  nodePorts: string[];
}

/** How nodes find an API server; `octavia` is a load balancer that the stack makes. */
export type OpenstackEndpointArgs = EndpointArgs | { octavia: { floatingIp: boolean } };

/** A Helm chart of the cloud provider, where another one than foresail's is wanted. */
export interface CloudChartArgs {
  /** @default the version that foresail was made for */
  version?: string;
  /** Merged over foresail's own. */
  values?: JsonObject;
}

/** The cloud controller manager and the Cinder CSI driver. */
export interface CloudProviderArgs {
  enabled: boolean;
  /** URL of the repository that has both charts, also oci://. @default the one of the Kubernetes project */
  repository?: string;
  /** Settings of cloud.conf, over foresail's own. */
  cloudConf?: CloudConfSections;
  cloudControllerManager?: CloudChartArgs;
  cinder?: CloudChartArgs & {
    /** @default true */
    enabled?: boolean;
  };
  /** An application credential for them; when absent, the stack makes one for the cluster. */
  applicationCredential?: pulumi.Input<{ id: string; secret: string }>;
}

export interface OpenstackClusterArgs {
  /** Entry of clouds.yaml; OS_CLOUD or the OS_… variables when absent. */
  cloud?: string;
  region?: string;
  network: NetworkArgs;
  /** Public half of the key by which SSH reaches new machines. */
  publicKey: string;
  /** cloud-init's user data for new machines. */
  userData?: string;
  pools: Pool[];
  endpoint?: OpenstackEndpointArgs;
  access: AccessArgs;
  /** Port of SSH on the machines. @default 22 */
  sshPort?: number;
  /** Slot → how often its machine was asked to be replaced: {"w-2": 1}. */
  replace?: Record<string, number>;
  cloudProvider: CloudProviderArgs;
  /** The cluster on the machines. */
  cluster: Omit<KubeadmClusterArgs, "machines" | "endpoint" | "lost">;
  /** What the stack's state has as the run begins; `readStackResources()` reads it. */
  existing: StateResources;
}
