import type * as pulumi from "@pulumi/pulumi";
import {
  DynamicResource,
  type HandlerKey,
  type ResourceArgs,
  type ResourceProperties,
} from "../../../lib/pulumi/dynamic-resource";
import type { FirewallRule } from "../plan/model";
import type { ExplainedRule } from "../plan/security-rules";
import type { ServerInputs } from "./server";

/** Inputs of every object that VMs are created from. */
export interface ObjectInputs {
  server: ServerInputs;
  namespace: string;
  /** Name of the object, the same in every run. */
  name: string;
  connection: string;
  /** Owner tag in the descriptions of this stack's objects. */
  mark: string;
  /** Whether to keep the object when the resource is deleted. */
  keepOnDelete: boolean;
  /** Whether the object existed before, created by others. */
  foreign: boolean;
  /** Set by check. */
  steps?: string[];
}

/** Recorded outputs of every object. */
export interface ObjectOutputs extends ObjectInputs {
  /** Name by which other objects refer to it; the server may choose another name than the requested one. */
  object: string;
  /** Whether this stack created the object and so may delete it. */
  made: boolean;
}

export type NamespaceInputs = Pick<
  ObjectInputs,
  "server" | "name" | "mark" | "keepOnDelete" | "foreign" | "steps"
>;

export interface NamespaceOutputs extends NamespaceInputs {
  /** Whether this stack created the namespace and so may delete it. */
  made: boolean;
}

/** A namespace of the server. An existing namespace is used and never deleted. */
export class TumblebugNamespace extends DynamicResource<NamespaceOutputs> {
  constructor(name: string, args: ResourceArgs<NamespaceInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugNamespace", name, args, { outputs: ["made"], secrets: ["server"] }, opts);
  }
}

/** An object that VMs are created from. */
export abstract class TumblebugObject<
  Outputs extends ObjectOutputs = ObjectOutputs,
> extends DynamicResource<Outputs> {
  /** Name by which other objects and VMs refer to it. */
  declare readonly object: pulumi.Output<string>;

  protected constructor(
    key: HandlerKey,
    name: string,
    args: object,
    { outputs = [], secrets = [] }: ResourceProperties<Outputs>,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super(
      key,
      name,
      args,
      { outputs: ["object", "made", ...outputs], secrets: ["server", ...secrets] },
      opts,
    );
  }
}

export interface TumblebugVNetInputs extends ObjectInputs {
  /** IPv4 CIDR block of the VNet and of its only subnet. */
  cidr: string;
  /** Whether the block is from the configuration; a changed default block does not change an existing VNet. */
  cidrWritten: boolean;
  subnet: string;
}

/** A VNet of a connection, with one subnet. */
export class TumblebugVNet extends TumblebugObject {
  /** Name of the subnet. */
  declare readonly subnet: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<TumblebugVNetInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVNet", name, args, {}, opts);
  }
}

export interface TumblebugSecurityGroupInputs extends ObjectInputs {
  vNet: string;
  /** Desired rules. A change adds new rules and removes old ones. */
  rules: ExplainedRule[];
  /** Rules as the server returned them at creation, possibly in another notation. */
  there?: FirewallRule[];
  /** Rules that the last refresh found missing; they are added again. */
  gone?: FirewallRule[];
}

/** A security group of a connection. */
export class TumblebugSecurityGroup extends TumblebugObject {
  constructor(
    name: string,
    args: ResourceArgs<TumblebugSecurityGroupInputs, "there">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("tumblebug/TumblebugSecurityGroup", name, args, {}, opts);
  }
}

export interface TumblebugSshKeyInputs extends ObjectInputs {
  /** SSH user. */
  user: string;
}

interface TumblebugSshKeyOutputs extends TumblebugSshKeyInputs, ObjectOutputs {
  /** Secret. */
  privateKey: string;
  publicKey: string;
  fingerprint: string;
}

/** An SSH key that the cloud creates, for all machines of its connection. */
export class TumblebugSshKey extends TumblebugObject<TumblebugSshKeyOutputs> {
  declare readonly privateKey: pulumi.Output<string>;
  declare readonly publicKey: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<TumblebugSshKeyInputs>, opts?: pulumi.CustomResourceOptions) {
    super(
      "tumblebug/TumblebugSshKey",
      name,
      args,
      { outputs: ["privateKey", "publicKey", "fingerprint"], secrets: ["privateKey"] },
      opts,
    );
  }
}

export interface TumblebugImageInputs extends ObjectInputs {
  /** Name of the image in the cloud. */
  cloudImage: string;
}

/** An image of a cloud that the server registers for a connection. */
export class TumblebugImage extends TumblebugObject {
  constructor(name: string, args: ResourceArgs<TumblebugImageInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugImage", name, args, {}, opts);
  }
}

export interface TumblebugSpecInputs extends ObjectInputs {
  /** Name of the machine type in the cloud. */
  cloudSpec: string;
}

/** A machine type of a cloud that the server registers for a connection. */
export class TumblebugSpec extends TumblebugObject {
  constructor(name: string, args: ResourceArgs<TumblebugSpecInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugSpec", name, args, {}, opts);
  }
}
