import type * as pulumi from "@pulumi/pulumi";
import {
  type AdoptionResourceArgs as ResourceArgs,
  AdoptionResource,
} from "../providers/kubernetes/resources/object-resources";
import { stackOwner } from "./stack-owner";

export type AdoptionArgs = Omit<ResourceArgs, "owner" | "takeOver"> & {
  /** Identity of another stack, from which the object is taken over. @default none */
  takeOver?: ResourceArgs["takeOver"] | undefined;
};

/** An object that may already exist, marked with the identity of this stack. */
export class Adoption extends AdoptionResource {
  constructor(name: string, { takeOver, ...args }: AdoptionArgs, opts?: pulumi.CustomResourceOptions) {
    // a property that is undefined would be an output
    const from = takeOver === undefined ? {} : { takeOver };
    super(name, { ...args, ...from, owner: stackOwner() }, opts);
  }
}
