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
  /** When absent, the first of the kind in the namespace; a stack keeps the one that it had. */
  name?: pulumi.Input<string>;
}

export interface ObjectReadyArgs {
  /** Of the cluster that has the object; secret. */
  kubeconfig: pulumi.Input<string>;
  object: ReadyObject;
  /** What is waited for; its `fields` are the outputs `values`. */
  wait: DesiredStatus;
  /** Waits again when one of these is another. */
  triggers?: pulumi.Input<unknown>[];
  /** The preview refuses when the object is not there, or its kind is not served. */
  mustExist?: boolean;
  /** Fields without which the object is of no use: the preview refuses then. */
  mustHave?: RequiredField[];
  /** A rule that the object has to pass; the preview refuses it otherwise. */
  guard?: Guard;
  /** What installs the definition of the kind, for the message when it is missing. */
  installedBy?: string;
  /** Deadline of the wait; default 300. */
  timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 300;

/** Waits until an object that others make has the status that is wished for, and changes nothing. */
export class ObjectReady extends DynamicResource {
  declare readonly uid: pulumi.Output<string>;
  /** The object, with its name. */
  declare readonly object: pulumi.Output<{ name: string }>;
  /** Output name → value, as `wait.fields` names them. */
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
