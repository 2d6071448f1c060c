import * as pulumi from "@pulumi/pulumi";
import type { RequiredField } from "../plan/required-fields";
import type { DesiredStatus } from "../plan/status";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import type { Guard } from "../../guards";

/** An object of a cluster, by name. */
export interface ReadyObject {
  apiVersion: string;
  kind: string;
  namespace?: pulumi.Input<string>;
  /** Default: the first of the kind in the namespace; a stack keeps the one in its state. */
  name?: pulumi.Input<string>;
}

export interface ObjectReadyArgs {
  /** Kubeconfig of the object's cluster; secret. */
  kubeconfig: pulumi.Input<string>;
  object: ReadyObject;
  /** The status to wait for; its `fields` become the output `values`. */
  wait: DesiredStatus;
  /** Waits again when one of these changes. */
  triggers?: pulumi.Input<unknown>[];
  /** Whether the preview refuses a missing object, or a kind that is not served. */
  mustExist?: boolean;
  /** Required fields: the preview refuses an object without them. */
  mustHave?: RequiredField[];
  /** A rule for the object; the preview refuses an object that violates it. */
  guard?: Guard;
  /** The software that installs the kind's definition, for the message when it is missing. */
  installedBy?: string;
  /** Timeout of the wait in seconds; default 300. */
  timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 300;

/** Waits until another component's object has the desired status, and changes nothing. */
export class ObjectReady extends DynamicResource {
  declare readonly uid: pulumi.Output<string>;
  /** The object, with its name. */
  declare readonly object: pulumi.Output<{ name: string }>;
  /** Output name → value, by the names in `wait.fields`. */
  declare readonly values: pulumi.Output<Record<string, unknown>>;

  constructor(name: string, args: ObjectReadyArgs, opts?: pulumi.CustomResourceOptions) {
    const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
    super(
      "kubernetes/ObjectReady",
      name,
      { timeoutSeconds: TIMEOUT_SECONDS, ...args, stack },
      ["uid", "ready", "values"],
      { ...opts, additionalSecretOutputs: ["kubeconfig"] },
    );
  }
}
