import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ClusterInputs } from "./inputs";

export interface ReaderAccountInputs extends Pick<ClusterInputs, "specification" | "timeouts" | "stack"> {
  kubeconfig: string;
  /** Set by check: the objects that are in the cluster after this run. */
  objects?: object[];
}

/** The account kube-system/foresail-reader, which lets a preview run without write permission. */
export class ReaderAccount extends DynamicResource<ReaderAccountInputs> {
  constructor(
    name: string,
    args: ResourceArgs<ReaderAccountInputs, "objects">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("kubeadm/ReaderAccount", name, args, { secrets: ["kubeconfig"] }, opts);
  }
}
