import type * as pulumi from "@pulumi/pulumi";
import type { Guard } from "../../guards";
import type { Identity } from "../plan/identity";
import type { RequiredField } from "../plan/required-fields";
import type { DesiredStatus } from "../plan/status";
import type { DeepInput } from "../../../lib/pulumi/dynamic-resource";
import type { ObjectInputs } from "./inputs";
import { type ObjectArgs, ObjectResource } from "./object-resource";

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
