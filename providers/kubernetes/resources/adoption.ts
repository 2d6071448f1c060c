import * as pulumi from "@pulumi/pulumi";
import type { Owner } from "../plan/adoption";
import type { Precondition } from "../plan/precondition";
import type { DesiredStatus } from "../plan/status";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** An object as it is wished for: the fields that are named, and no others. */
export interface DesiredObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: pulumi.Input<string>;
    namespace?: pulumi.Input<string>;
    labels?: pulumi.Input<Record<string, pulumi.Input<string>>>;
    annotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  };
  [field: string]: unknown;
}

export interface AdoptionArgs {
  /** Of the cluster that has the object; secret. */
  kubeconfig: pulumi.Input<string>;
  object: DesiredObject;
  /** Owners that the object is to have; without a uid it is looked up. */
  owners?: pulumi.Input<pulumi.Input<Owner>[]>;
  /** Finalizers that the object is to have until this resource is deleted. */
  finalizers?: string[];
  /** Take the object, and fields of it, from another controller, stack or field manager; default false. */
  adopt?: boolean;
  /** What is waited for; its `fields` are the outputs `values`. */
  wait?: DesiredStatus;
  /** Fields that are written when the object is made, and are somebody else's from then on: ["spec.replicas"]. */
  leave?: string[];
  /** What an object of others must be like to be adopted. */
  preconditions?: Precondition[];
  /** Others make the object: this stack never does, and the preview refuses when it is not there. */
  mustExist?: boolean;
  /** What to say when the object that this stack has is being deleted by others, or is gone and not to be made. */
  ended?: string;
  /** The preview asks the API server, by a dry run, if its webhooks and policies let the object through. */
  dryRun?: boolean;
  /** What installs the definition of the kind, for the message when it is missing. */
  installedBy?: string;
  /** Deadline of the wait, and of the object's end; default 300. */
  timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 300;

/**
 * An object that may exist already, ensured by server-side apply: fields that the server or others write are left
 * alone, nothing is taken from another owner without `adopt`, and only what this stack made is deleted.
 */
export class Adoption extends DynamicResource {
  /** Whether this stack made the object. */
  declare readonly made: pulumi.Output<boolean>;
  declare readonly uid: pulumi.Output<string>;
  /** Output name → value, as `wait.fields` names them. */
  declare readonly values: pulumi.Output<Record<string, unknown>>;

  constructor(name: string, args: AdoptionArgs, opts?: pulumi.CustomResourceOptions) {
    const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
    super(
      "kubernetes/Adoption",
      name,
      { timeoutSeconds: TIMEOUT_SECONDS, ...args, stack },
      ["made", "uid", "ready", "values", "applied"],
      { ...opts, additionalSecretOutputs: ["kubeconfig"] },
    );
  }
}
