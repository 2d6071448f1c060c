import type * as pulumi from "@pulumi/pulumi";
import type { AdoptionInputs, AdoptionOutputs } from "./adoption-inputs";
import { type ObjectArgs, ObjectResource } from "./object-resource";

export type AdoptionArgs = ObjectArgs<AdoptionInputs>;

/** A desired object, as a program passes it. */
export type DesiredObject = AdoptionArgs["object"];

/**
 * An object that may already exist, managed with server-side apply: keeps fields that the server or others write, takes
 * nothing from another owner without `adopt`, and deletes only what this stack created.
 */
export class Adoption extends ObjectResource<AdoptionInputs, AdoptionOutputs> {
  /** Whether this stack created the object. */
  declare readonly made: pulumi.Output<boolean>;
  declare readonly uid: pulumi.Output<string>;
  /** Output name → value, by the names in `wait.fields`. */
  declare readonly values: pulumi.Output<Record<string, unknown>>;

  constructor(name: string, args: AdoptionArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubernetes/Adoption", name, args, ["made", "uid", "ready", "values", "applied"], opts);
  }
}
