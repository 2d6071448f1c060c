import type { z } from "zod";
import type {
  CloudImage,
  CloudSpec,
  Connection,
  FirewallRule,
  Generation,
  Image,
  DesiredImage,
  Infrastructure,
  InfrastructureStatus,
  DesiredInfrastructure,
  LoadBalancer,
  DesiredLoadBalancer,
  Region,
  SecurityGroup,
  DesiredSecurityGroup,
  Spec,
  DesiredSpec,
  SshKey,
  DesiredSshKey,
  VirtualMachine,
  DesiredVmGroup,
  VNet,
  DesiredVNet,
} from "../plan/model";

/** Requests and responses of one generation for a kind of object. */
export interface ResourceDialect<Wish extends { readonly name: string }, Found> {
  /** Word in the path, such as "vNet"; also the field of the list. */
  readonly type: string;
  /** Whether the server stores the description of the request. @default true */
  readonly keepsDescription?: boolean;
  /** Whether the server can list the objects; otherwise they are read by name. @default true */
  readonly isListed?: boolean;
  /** Query of a creation, such as "?action=registerWithInfo". */
  readonly createQuery: string;
  readonly deleteQuery: string;
  request(desired: Wish): unknown;
  readonly answer: z.ZodType<Found>;
}

/** Differences between the generations: paths, bodies, and the status of missing objects. */
export interface Dialect {
  readonly generation: Generation;
  readonly vNets: ResourceDialect<DesiredVNet, VNet>;
  readonly securityGroups: ResourceDialect<DesiredSecurityGroup, SecurityGroup>;
  readonly sshKeys: ResourceDialect<DesiredSshKey, SshKey>;
  /** Absent if VMs refer to the cloud's image directly. */
  readonly images?: ResourceDialect<DesiredImage, Image>;
  readonly specs: ResourceDialect<DesiredSpec, Spec>;

  /** Returns the body to add rules to a security group, and to remove them. */
  rulesRequest(rules: readonly FirewallRule[]): unknown;

  readonly connection: z.ZodType<Connection>;
  regionPath(connection: Connection): string;
  readonly region: z.ZodType<Region>;
  specLookup(connection: string, cloudSpec: string): unknown;
  readonly cloudSpec: z.ZodType<CloudSpec>;
  imageLookup(connection: string, cloudImage: string): unknown;
  readonly cloudImage: z.ZodType<CloudImage>;
  readonly cloudImages: z.ZodType<CloudImage[]>;

  /** "mcis" or "infra" */
  readonly infrastructurePath: string;
  /** "vm" or "node" */
  readonly machinePath: string;
  /** "subgroup" or "nodegroup" */
  readonly groupPath: string;
  /** Path words of the existence checks for an infrastructure and for a machine: "checkMcis", "checkVm". */
  readonly checkInfrastructure: string;
  readonly checkMachine: string;
  infrastructureRequest(desired: DesiredInfrastructure): unknown;
  groupRequest(desired: DesiredVmGroup): unknown;
  growthRequest(count: number): unknown;
  readonly infrastructure: z.ZodType<Infrastructure>;
  readonly infrastructureStatus: z.ZodType<InfrastructureStatus>;
  readonly machine: z.ZodType<VirtualMachine>;

  loadBalancerRequest(desired: DesiredLoadBalancer): unknown;
  loadBalancerMachines(machines: readonly string[]): unknown;
  readonly loadBalancer: z.ZodType<LoadBalancer>;

  /** Whether the server answers 404 for a missing object, so that no existence check is needed. */
  readonly saysNotFound: boolean;
}
