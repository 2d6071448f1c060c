import type * as pulumi from "@pulumi/pulumi";
import {
  type AdoptionArgs as ResourceArgs,
  Adoption as AdoptionResource,
} from "../providers/kubernetes/resources/object-resources";
import { stackOwner } from "./stack-owner";

export type AdoptionArgs = Omit<ResourceArgs, "owner">;

/** An object that may already exist, marked with the identity of this stack. */
export class Adoption extends AdoptionResource {
  constructor(name: string, args: AdoptionArgs, opts?: pulumi.CustomResourceOptions) {
    super(name, { ...args, owner: stackOwner() }, opts);
  }
}
