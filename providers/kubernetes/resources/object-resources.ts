import type * as pulumi from "@pulumi/pulumi";
import {
  DynamicResource,
  type AnyHandlerKey,
  type ResourceArgs,
  type DeepInput,
} from "../../../lib/pulumi/dynamic-resource";
import { stackName } from "../../../lib/pulumi/stack";
import type { ObjectInputs } from "./inputs";
import type { Guard } from "../../guards";
import type { Identity } from "../plan/identity";
import type { DesiredStatus, RequiredField } from "../plan/status";
import type { AdoptionInputs, AdoptionOutputs } from "./adoption-inputs";

const TIMEOUT_SECONDS = 300;

/** The arguments of a resource for a cluster's object. */
type ObjectArgs<Inputs extends ObjectInputs> = ResourceArgs<Inputs, "stack" | "timeoutSeconds"> & {
  /** Timeout of the whole wait in seconds; default 300. */
  timeoutSeconds?: pulumi.Input<number>;
};

/** A resource for one object of a cluster. */
abstract class ObjectResource<
  Inputs extends ObjectInputs,
  Outputs extends Inputs,
> extends DynamicResource<Outputs> {
  protected constructor(
    key: AnyHandlerKey,
    name: string,
    args: ObjectArgs<Inputs>,
    outputs: (keyof Outputs & string)[],
    opts?: pulumi.CustomResourceOptions,
  ) {
    const all = { timeoutSeconds: TIMEOUT_SECONDS, ...args, stack: stackName() };
    super(key, name, all, { outputs, secrets: ["kubeconfig"] }, opts);
  }
}

export interface ObjectReadyInputs extends ObjectInputs {
  object: Identity;
  /** The status to wait for; its `fields` become the output `values`. */
  wait: DesiredStatus;
  /** Waits again when one of these changes. */
  triggers?: unknown[];
  /** Whether the preview refuses a missing object, or a kind that is not served. */
  mustExist?: boolean;
  /** Required fields: the preview refuses an object without them. */
  mustHave?: RequiredField[];
  /** A rule for the object; the preview refuses an object that violates it. */
  guard?: Guard;
  /** The software that installs the kind's definition, for the message when it is missing. */
  installedBy?: string;
  steps?: string[];
}

export interface ObjectReadyOutputs extends ObjectReadyInputs {
  uid: string;
  ready: boolean;
  /** Output name → value, by the names in `wait.fields`. */
  values: Record<string, unknown>;
}

/** An object of a cluster. Without a name: the first of the kind in the namespace; a stack keeps the one in its state. */
export type ReadyObject = DeepInput<Omit<Identity, "name"> & Partial<Pick<Identity, "name">>>;

export type ObjectReadyArgs = Omit<ObjectArgs<ObjectReadyInputs>, "object"> & { object: ReadyObject };

/** Waits until another component's object has the desired status, and changes nothing. */
export class ObjectReady extends ObjectResource<ObjectReadyInputs, ObjectReadyOutputs> {
  declare readonly uid: pulumi.Output<string>;
  /** The object, with its name. */
  declare readonly object: pulumi.Output<{ name: string }>;
  declare readonly values: pulumi.Output<Record<string, unknown>>;

  constructor(name: string, args: ObjectReadyArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      "kubernetes/ObjectReady",
      name,
      args as ObjectArgs<ObjectReadyInputs>,
      ["uid", "ready", "values"],
      opts,
    );
  }
}

export type AdoptionResourceArgs = ObjectArgs<AdoptionInputs>;

/** A desired object, as a program passes it. */
export type DesiredObject = AdoptionResourceArgs["object"];

/**
 * An object that may already exist, managed with server-side apply: keeps fields that the server or others write, takes
 * nothing from another owner without `adopt`, and deletes only what this stack created.
 */
export class AdoptionResource extends ObjectResource<AdoptionInputs, AdoptionOutputs> {
  /** Whether this stack created the object. */
  declare readonly made: pulumi.Output<boolean>;
  declare readonly uid: pulumi.Output<string>;
  /** Output name → value, by the names in `wait.fields`. */
  declare readonly values: pulumi.Output<Record<string, unknown>>;

  constructor(name: string, args: AdoptionResourceArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubernetes/Adoption", name, args, ["made", "uid", "ready", "values", "applied"], opts);
  }
}
