import * as pulumi from "@pulumi/pulumi";
import type { Owner } from "../plan/adoption";
import type { Precondition } from "../plan/precondition";
import type { DesiredStatus } from "../plan/status";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** A desired object: only the fields that this stack sets. */
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
  /** Kubeconfig of the object's cluster; secret. */
  kubeconfig: pulumi.Input<string>;
  object: DesiredObject;
  /** Desired owners of the object; one without a uid is looked up. */
  owners?: pulumi.Input<pulumi.Input<Owner>[]>;
  /** Finalizers that the object has until this resource is deleted. */
  finalizers?: string[];
  /** Whether to take over the object and its fields from another controller, stack or field manager; default false. */
  adopt?: boolean;
  /** The status to wait for; its `fields` become the output `values`. */
  wait?: DesiredStatus;
  /** Fields that are set only at the creation and then belong to another component: ["spec.replicas"]. */
  leave?: string[];
  /** Conditions for adopting an object that this stack did not create. */
  preconditions?: Precondition[];
  /** Another component creates the object: this stack never does, and the preview refuses a missing object. */
  mustExist?: boolean;
  /** The message when another component deletes this stack's object, or it is gone and must not be created. */
  ended?: string;
  /** Whether the preview checks with a dry run that the API server's webhooks and policies accept the object. */
  dryRun?: boolean;
  /** The software that installs the kind's definition, for the message when it is missing. */
  installedBy?: string;
  /** Timeout in seconds of the wait, and of the object's deletion; default 300. */
  timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 300;

/**
 * An object that may already exist, managed with server-side apply: keeps fields that the server or others write, takes
 * nothing from another owner without `adopt`, and deletes only what this stack created.
 */
export class Adoption extends DynamicResource {
  /** Whether this stack created the object. */
  declare readonly made: pulumi.Output<boolean>;
  declare readonly uid: pulumi.Output<string>;
  /** Output name → value, by the names in `wait.fields`. */
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
