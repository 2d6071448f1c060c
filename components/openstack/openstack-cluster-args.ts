import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { withCurrentNames } from "../../lib/pulumi/arguments";
import { OPENSTACK_CLUSTER_RENAMES } from "../../providers/openstack/plan/validation";
import { OpenstackSection, openstackRules } from "../../stacks/schema/openstack";
import { Access, MOST_GROUPS, whole } from "../../stacks/schema/rule";
import { type ArgumentsOf, ofSection, orEmptyText } from "../arguments";
import type { CloudConfSections } from "../../providers/openstack/plan/cloud-conf";
import type { JsonObject } from "../../lib/merge";
import type { Pool } from "../../providers/openstack/plan/machine";
import {
  asInStackFile,
  type CheckedClusterOn,
  checkedOnMachines,
  type ClusterOnArgs,
  onMachines,
} from "../kubeadm/cluster-on-machines";
import type { EndpointArgs } from "../kubeadm/kubeadm-cluster-args";

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

type Section = z.input<typeof OpenstackSection>;

/** The fields of a stack file's section `openstack`, with the same rules and defaults (docs/configuration.md). */
export interface OpenstackClusterArgs
  extends
    Omit<Section, "network" | "endpoint" | "access" | "cloudProvider" | "userData">,
    ArgumentsOf<Pick<Section, "userData">> {
  network: Partial<OwnNetworkArgs> | ExistingNetworkArgs;
  endpoint?: Section["endpoint"] | OpenstackEndpointArgs;
  access: Partial<AccessArgs> & Pick<AccessArgs, "ssh" | "api">;
  /** SSH port of the machines. @default cluster.ssh.port */
  sshPort?: number;
  cloudProvider?: Section["cloudProvider"] & Pick<CloudProviderArgs, "applicationCredential">;
  /** The cluster on the machines. */
  cluster: ClusterOnArgs;
}

const { network: Network, pools, region } = OpenstackSection.shape;
const { rootVolume, zones } = pools.element.shape;
const RootVolume = rootVolume.unwrap();
const CloudProvider = OpenstackSection.shape.cloudProvider.unwrap();
const { cloudControllerManager, cinder } = CloudProvider.shape;
const version = orEmptyText(cinder.unwrap().shape.version).optional();

/** Schema of the arguments. */
const OpenstackArguments = OpenstackSection.extend({
  ...onMachines("openstack", Access),
  // wider than in a stack file, as in 0.1.0
  region: orEmptyText(region).optional(),
  network: Network.extend({ externalNetwork: orEmptyText(Network.shape.externalNetwork).optional() }),
  pools: z
    .array(
      pools.element.extend({
        replacementsPerRun: whole(0, 100).default(1),
        zones: z.array(orEmptyText(zones.unwrap().element)).default([]),
        rootVolume: RootVolume.extend({ type: orEmptyText(RootVolume.shape.type).optional() }).optional(),
      }),
    )
    .min(1)
    .max(MOST_GROUPS),
  cloudProvider: CloudProvider.extend({
    applicationCredential: z.custom<CloudProviderArgs["applicationCredential"]>().optional(),
    cloudControllerManager: cloudControllerManager.unwrap().extend({ version }).prefault({}),
    cinder: cinder.unwrap().extend({ version }).prefault({}),
  }).prefault({}),
});

/** Checked arguments with their defaults. */
export interface CheckedOpenstack extends Omit<
  z.output<typeof OpenstackArguments>,
  "network" | "endpoint" | "cloudProvider" | "cluster"
> {
  network: NetworkArgs;
  endpoint: OpenstackEndpointArgs;
  sshPort: number;
  pools: Pool[];
  cloudProvider: CloudProviderArgs;
  cluster: CheckedClusterOn;
}

/** What decides on the objects in the cloud, which the preview plans from the state. */
const PLAIN_FIELDS = [
  ...Object.keys(OpenstackSection.shape).filter((name) => !["userData", "endpoint"].includes(name)),
  "endpoint.octavia",
];

/**
 * Returns the arguments by the current names, checked and with the defaults of a stack file.
 *
 * @throws pulumi.InputPropertiesError with all issues
 */
export function checkedOpenstack(name: string, given: OpenstackClusterArgs): CheckedOpenstack {
  const args = withCurrentNames(`OpenstackCluster ${name}`, given, OPENSTACK_CLUSTER_RENAMES);
  const checked = checkedOnMachines("OpenstackCluster", name, OpenstackArguments, args, {
    plain: PLAIN_FIELDS,
    rules: ({ cluster, ...openstack }) =>
      ofSection("openstack", openstackRules({ openstack, cluster: asInStackFile(cluster) })),
  });
  const { network, cluster, sshPort = cluster.ssh.port } = checked;
  return { ...checked, network: networkOf(network), sshPort } as CheckedOpenstack;
}

function networkOf({
  id,
  dnsNameservers,
  ...others
}: z.output<typeof OpenstackSection>["network"]): NetworkArgs {
  if (id !== undefined) return { id, ...others };
  return { dnsNameservers, ...others, externalNetwork: others.externalNetwork ?? "" };
}
