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

/** How one generation asks for objects of a kind and answers. */
export interface ResourceDialect<Wish extends { readonly name: string }, Found> {
  /** in the path, such as "vNet"; also the list's field */
  readonly type: string;
  /** Whether the server keeps the description that it was sent. @default true */
  readonly keepsDescription?: boolean;
  /** Whether the server lists them; otherwise they are read by name. @default true */
  readonly isListed?: boolean;
  /** after the path of a creation, such as "?action=registerWithInfo" */
  readonly createQuery: string;
  readonly deleteQuery: string;
  request(desired: Wish): unknown;
  readonly answer: z.ZodType<Found>;
}

/** What differs between the generations: words of paths, bodies, and how much a missing object's status says. */
export interface Dialect {
  readonly generation: Generation;
  readonly vNets: ResourceDialect<DesiredVNet, VNet>;
  readonly securityGroups: ResourceDialect<DesiredSecurityGroup, SecurityGroup>;
  readonly sshKeys: ResourceDialect<DesiredSshKey, SshKey>;
  /** Absent where VMs name the cloud's image themselves. */
  readonly images?: ResourceDialect<DesiredImage, Image>;
  readonly specs: ResourceDialect<DesiredSpec, Spec>;

  /** of adding rules to a security group, and of taking them away */
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
  /** of the check for an infrastructure and for a machine: "checkMcis" */
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

  /** Whether 404 is what a missing object gets, so that nobody needs to ask again. */
  readonly saysNotFound: boolean;
}
