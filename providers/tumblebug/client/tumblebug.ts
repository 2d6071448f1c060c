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
 * One Tumblebug server, whatever its generation. Every call may throw TumblebugRefusal, TumblebugUnreachable and
 * UnexpectedAnswer, a change ReplyLost too, and the signal's reason. Close it when the work ends.
 */
export interface Tumblebug {
  readonly generation: Generation;
  readonly namespaces: Namespaces;
  readonly vNets: ResourceKind<DesiredVNet, VNet>;
  readonly securityGroups: SecurityGroups;
  readonly sshKeys: ResourceKind<DesiredSshKey, SshKey>;
  /** Undefined on `infra`, where VMs name the cloud's image themselves and nothing is registered. */
  readonly images: ResourceKind<DesiredImage, Image> | undefined;
  readonly specs: ResourceKind<DesiredSpec, Spec>;
  readonly infrastructures: Infrastructures;
  readonly loadBalancers: LoadBalancers;

  /** undefined when the server has none of that name. @throws TumblebugRefusal "SpiderDown" when that can't be said */
  readConnection(name: string): Promise<Connection | undefined>;
  /** @throws TumblebugRefusal "NotFound", "SpiderDown" */
  readRegion(connection: Connection): Promise<Region>;
  /** Asks the cloud for a machine type; undefined when it has none of that name. @throws TumblebugRefusal "SpiderDown" */
  lookupSpec(connection: string, cloudSpec: string): Promise<CloudSpec | undefined>;
  /** Asks the cloud for an image; undefined when it has none of that name. @throws TumblebugRefusal "SpiderDown" */
  lookupImage(connection: string, cloudImage: string): Promise<CloudImage | undefined>;
  /** All images of the cloud. */
  lookupImages(connection: string): Promise<CloudImage[]>;
  close(): void;
}

export interface Namespaces {
  read(name: string): Promise<Namespace | undefined>;
  /** @throws TumblebugRefusal "AlreadyExists" */
  create(desired: { name: string; description?: string }): Promise<Namespace>;
  /** @returns false when there was none. @throws TumblebugRefusal "InUse" when it holds something */
  delete(name: string): Promise<boolean>;
}

/** Objects of one kind in a namespace, which VMs are made from. */
export interface ResourceKind<Wish extends { readonly name: string }, Found> {
  /** Whether the server keeps the description; that of a spec comes back empty in both generations. */
  readonly keepsDescription: boolean;
  read(namespace: string, id: string): Promise<Found | undefined>;
  /** @throws TumblebugRefusal "NoSuchRoute" for specs of `infra`, which has no such list */
  list(namespace: string): Promise<Found[]>;
  /** Those of these names that are there; from the list, or one by one where the server has none. */
  named(namespace: string, names: readonly string[]): Promise<Found[]>;
  /**
   * Makes the object. When the answer is lost it is looked for, and asked for again only when it isn't there.
   * @throws TumblebugRefusal "AlreadyExists", "NamespaceNotFound"
   */
  create(namespace: string, desired: Wish): Promise<Found>;
  /**
   * Deletes the object and waits until it is gone, a minute or so.
   * @returns false when there was none
   * @throws TumblebugRefusal "InUse"; "DeletionPending" when the cloud has not confirmed it in that time
   */
  delete(namespace: string, id: string): Promise<boolean>;
}

/** Their rules may change while VMs hold them; everything else of an object stays as it was made. */
export interface SecurityGroups extends ResourceKind<DesiredSecurityGroup, SecurityGroup> {
  /** Adds rules; those that it has are no error. @throws TumblebugRefusal "NotFound" */
  addRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<SecurityGroup>;
  /** Takes rules away; those that it has not are no error. @throws TumblebugRefusal "NotFound" */
  removeRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<SecurityGroup>;
}

/** Long calls: a creation answers when every VM was tried, which takes minutes. */
export interface Infrastructures {
  /** The whole. The server allows two reads a second: others wait for their turn. */
  read(namespace: string, name: string): Promise<Infrastructure | undefined>;
  /** The short answer; the same limit as for `read`. */
  readStatus(namespace: string, name: string): Promise<InfrastructureStatus | undefined>;
  /**
   * Makes all VMs. A VM that could not be made has the status "Failed" in the result and its reason in `systemMessage`:
   * that is no error here. After a lost answer the result may still have VMs that are being made: wait for them.
   * @throws TumblebugRefusal "AlreadyExists" (a failed creation may leave a record that makes the next one say so)
   */
  create(namespace: string, desired: DesiredInfrastructure): Promise<Infrastructure>;
  /** Adds the VMs of a group to an infrastructure; those of a group that exists are appended to it. */
  addGroup(namespace: string, infrastructure: string, group: DesiredVmGroup): Promise<Infrastructure>;
  /** Adds `count` VMs to a group that exists, numbered on from its last. */
  growGroup(namespace: string, infrastructure: string, group: string, count: number): Promise<Infrastructure>;
  readMachine(
    namespace: string,
    infrastructure: string,
    machine: string,
  ): Promise<VirtualMachine | undefined>;
  /** Terminates and removes one VM, and waits until it is gone, some minutes at most. @returns false when there was none */
  deleteMachine(namespace: string, infrastructure: string, machine: string): Promise<boolean>;
  /**
   * Begins to terminate all VMs, or drops the records of the failed ones ("refine"). Sent once, never repeated: it is a
   * GET that changes things. Terminating VMs that are all terminated, or none, is no error.
   * @throws TumblebugRefusal "NotFound"; "NotAllowedNow" when a VM is in a change and `force` is not set
   */
  control(
    namespace: string,
    infrastructure: string,
    action: "terminate" | "refine",
    options?: { force?: boolean },
  ): Promise<void>;
  /**
   * Drops the record, its load balancers and policies; with "terminate" all VMs are terminated first, with "force"
   * their state doesn't matter and they may be left in the cloud.
   * @returns false when there was none
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
  /** Lets VMs of its group take part; those that do are no error. */
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
  /** @returns false when there was none */
  delete(namespace: string, infrastructure: string, group: string): Promise<boolean>;
}
