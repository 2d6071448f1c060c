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
  Namespace,
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

/**
 * A Tumblebug server of either generation. Every call may throw TumblebugRefusal, TumblebugUnreachable,
 * UnexpectedAnswer and the signal's reason; changes may also throw ReplyLost. Call `close()` after use.
 */
export interface Tumblebug {
  readonly generation: Generation;
  readonly namespaces: Namespaces;
  readonly vNets: ResourceKind<DesiredVNet, VNet>;
  readonly securityGroups: SecurityGroups;
  readonly sshKeys: ResourceKind<DesiredSshKey, SshKey>;
  /** Undefined for `infra`, where VMs refer to the cloud's image and images are not registered. */
  readonly images: ResourceKind<DesiredImage, Image> | undefined;
  readonly specs: ResourceKind<DesiredSpec, Spec>;
  readonly infrastructures: Infrastructures;
  readonly loadBalancers: LoadBalancers;

  /**
   * Reads a connection; undefined if the server has none of this name.
   * @throws TumblebugRefusal "SpiderDown" if that is unknown
   */
  readConnection(name: string): Promise<Connection | undefined>;
  /** @throws TumblebugRefusal "NotFound", "SpiderDown" */
  readRegion(connection: Connection): Promise<Region>;
  /** Looks up a machine type in the cloud; undefined if it does not exist. @throws TumblebugRefusal "SpiderDown" */
  lookupSpec(connection: string, cloudSpec: string): Promise<CloudSpec | undefined>;
  /** Looks up an image in the cloud; undefined if it does not exist. @throws TumblebugRefusal "SpiderDown" */
  lookupImage(connection: string, cloudImage: string): Promise<CloudImage | undefined>;
  /** Returns all images of the cloud. */
  lookupImages(connection: string): Promise<CloudImage[]>;
  close(): void;
}

export interface Namespaces {
  read(name: string): Promise<Namespace | undefined>;
  /** @throws TumblebugRefusal "AlreadyExists" */
  create(desired: { name: string; description?: string }): Promise<Namespace>;
  /** @returns false if it did not exist. @throws TumblebugRefusal "InUse" if it is not empty */
  delete(name: string): Promise<boolean>;
}

/** Calls for a kind of object in a namespace that VMs are created from. */
export interface ResourceKind<Wish extends { readonly name: string }, Found> {
  /** Whether the server stores the description; for specs, both generations return an empty one. */
  readonly keepsDescription: boolean;
  read(namespace: string, id: string): Promise<Found | undefined>;
  /** @throws TumblebugRefusal "NoSuchRoute" for specs of `infra`, which can't list them */
  list(namespace: string): Promise<Found[]>;
  /** Returns the existing objects with these names, from the list or, if the server has no list, one by one. */
  named(namespace: string, names: readonly string[]): Promise<Found[]>;
  /**
   * Creates the object. If the response is lost, searches for the object and retries only if it does not exist.
   * @throws TumblebugRefusal "AlreadyExists", "NamespaceNotFound"
   */
  create(namespace: string, desired: Wish): Promise<Found>;
  /**
   * Deletes the object and waits until it no longer exists, about a minute.
   * @returns false if it did not exist
   * @throws TumblebugRefusal "InUse"; "DeletionPending" if the cloud has not confirmed the deletion by the deadline
   */
  delete(namespace: string, id: string): Promise<boolean>;
}

/** Calls for security groups. Only their rules can change, even while VMs use them. */
export interface SecurityGroups extends ResourceKind<DesiredSecurityGroup, SecurityGroup> {
  /** Adds rules; ignores existing ones. @throws TumblebugRefusal "NotFound" */
  addRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<SecurityGroup>;
  /** Removes rules; ignores missing ones. @throws TumblebugRefusal "NotFound" */
  removeRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<SecurityGroup>;
}

/** Calls for infrastructures. A creation returns after all VMs were attempted, which takes minutes. */
export interface Infrastructures {
  /** Reads an infrastructure. The server allows two reads per second; further ones wait. */
  read(namespace: string, name: string): Promise<Infrastructure | undefined>;
  /** Reads the short status, with the same rate limit as `read`. */
  readStatus(namespace: string, name: string): Promise<InfrastructureStatus | undefined>;
  /**
   * Creates all VMs. A failed VM is not an error: it has status "Failed" and a reason in `systemMessage`. After a lost
   * response, the result may have VMs that are still being created.
   * @throws TumblebugRefusal "AlreadyExists", possibly because of the record of a failed creation
   */
  create(namespace: string, desired: DesiredInfrastructure): Promise<Infrastructure>;
  /** Adds the VMs of a group to an infrastructure, also to an existing group. */
  addGroup(namespace: string, infrastructure: string, group: DesiredVmGroup): Promise<Infrastructure>;
  /** Adds `count` VMs to an existing group, with the next numbers. */
  growGroup(namespace: string, infrastructure: string, group: string, count: number): Promise<Infrastructure>;
  readMachine(
    namespace: string,
    infrastructure: string,
    machine: string,
  ): Promise<VirtualMachine | undefined>;
  /** Terminates and removes a VM and waits until it is gone, up to some minutes. @returns false if it did not exist */
  deleteMachine(namespace: string, infrastructure: string, machine: string): Promise<boolean>;
  /**
   * Starts the termination of all VMs ("terminate"), or deletes the records of failed ones ("refine"). Not retried like
   * other GET requests, because it changes the infrastructure. Terminating no VMs, or terminated ones, is not an error.
   * @throws TumblebugRefusal "NotFound"; "NotAllowedNow" if a VM is being changed and `force` is not set
   */
  control(
    namespace: string,
    infrastructure: string,
    action: "terminate" | "refine",
    options?: { force?: boolean },
  ): Promise<void>;
  /**
   * Deletes the record with its load balancers and policies. With "terminate", terminates all VMs first. With "force",
   * ignores the status of VMs, which may remain in the cloud.
   * @returns false if it did not exist
   * @throws TumblebugRefusal "NotAllowedNow" while a VM is not terminated, failed or undefined
   */
  delete(
    namespace: string,
    infrastructure: string,
    options?: { option?: "terminate" | "force" },
  ): Promise<boolean>;
}

export interface LoadBalancers {
  read(namespace: string, infrastructure: string, group: string): Promise<LoadBalancer | undefined>;
  /** @throws TumblebugRefusal "AlreadyExists" */
  create(namespace: string, infrastructure: string, desired: DesiredLoadBalancer): Promise<LoadBalancer>;
  /** Adds VMs of the group; ignores those already added. */
  addMachines(
    namespace: string,
    infrastructure: string,
    group: string,
    machines: readonly string[],
  ): Promise<void>;
  removeMachines(
    namespace: string,
    infrastructure: string,
    group: string,
    machines: readonly string[],
  ): Promise<void>;
  /** @returns false if it did not exist */
  delete(namespace: string, infrastructure: string, group: string): Promise<boolean>;
}
