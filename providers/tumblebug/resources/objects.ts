import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
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

export type NamespaceInputs = Omit<ObjectInputs, "namespace" | "connection">;
export type NamespaceOutputs = NamespaceInputs & Pick<ObjectOutputs, "made">;

/** A namespace of the server. An existing namespace is used and never deleted. */
export class TumblebugNamespace extends DynamicResource<NamespaceOutputs> {
  constructor(name: string, args: ResourceArgs<NamespaceInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugNamespace", name, args, { outputs: ["made"], secrets: ["server"] }, opts);
  }
}

/** Inputs of each kind of object that VMs are created from, by resource type. */
export interface ObjectTypes {
  /** A VNet of a connection, with one subnet. */
  TumblebugVNet: ObjectInputs & {
    /** IPv4 CIDR block of the VNet and of its only subnet. */
    cidr: string;
    /** Whether the block is from the configuration; a changed default block does not change an existing VNet. */
    cidrWritten: boolean;
    subnet: string;
  };
  /** A security group of a connection. */
  TumblebugSecurityGroup: ObjectInputs & {
    vNet: string;
    /** Desired rules. A change adds new rules and removes old ones. */
    rules: ExplainedRule[];
    /** Rules as the server returned them at creation, possibly in another notation. */
    there?: FirewallRule[];
    /** Rules that the last refresh found missing; they are added again. */
    gone?: FirewallRule[];
  };
  /** An SSH key that the cloud creates, for all machines of its connection. */
  TumblebugSshKey: ObjectInputs & { user: string };
  /** An image of a cloud that the server registers for a connection, by its name in the cloud. */
  TumblebugImage: ObjectInputs & { cloudImage: string };
  /** A machine type of a cloud that the server registers for a connection, by its name in the cloud. */
  TumblebugSpec: ObjectInputs & { cloudSpec: string };
}

interface Recorded extends ObjectOutputs {
  /** Of an SSH key. Secret. */
  privateKey: string;
  publicKey: string;
  fingerprint: string;
}

/** An object that VMs are created from. */
export class TumblebugObject<Type extends keyof ObjectTypes> extends DynamicResource<Recorded> {
  /** Name by which other objects and VMs refer to it. */
  declare readonly object: pulumi.Output<string>;

  constructor(
    type: Type,
    name: string,
    args: ResourceArgs<ObjectTypes[Type], "there" & keyof ObjectTypes[Type]>,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const isKey = type === "TumblebugSshKey";
    const own = isKey ? (["privateKey", "publicKey", "fingerprint"] as const) : [];
    const secrets = isKey ? (["server", "privateKey"] as const) : (["server"] as const);
    super(
      `tumblebug/${type}`,
      name,
      args,
      { outputs: ["object", "made", ...own], secrets: [...secrets] },
      opts,
    );
  }
}

/** A VNet with its output. */
export class TumblebugVNet extends TumblebugObject<"TumblebugVNet"> {
  /** Name of the subnet. */
  declare readonly subnet: pulumi.Output<string>;
}

/** An SSH key with its output. */
export class TumblebugSshKey extends TumblebugObject<"TumblebugSshKey"> {
  declare readonly privateKey: pulumi.Output<string>;
}
