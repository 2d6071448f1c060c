import {
  decideOwnership,
  foreignOwner,
  type Owner,
  type Ownership,
  parseOwner,
  type Self,
} from "../../../../lib/ownership/owner";
import type { KubernetesClient } from "../../../../lib/kubernetes";
import { readOwner } from "../../client/owner-record";
import { isKnown } from "../../../../lib/unknown";
import { TAKE_OVER_FIELD } from "../../plan/facts/ownership";
import type { ClusterInputs } from "../declarations";

type Owned = Pick<ClusterInputs, "owner" | "stack"> & { specification: { name: string } };

/** Owners that the checks of this run knew, by cluster: state of an earlier release has none in its outputs. */
const owners = new Map<string, Owner>();

/** Keeps the stack's identity for the resources of this run. */
export const rememberOwner = (cluster: string, owner: Owner): void => void owners.set(cluster, owner);

/** Returns the stack as the owner of a cluster; undefined before it has an identity, and in state of earlier releases. */
export function ownerOf({ owner, specification }: Owned): Owner | undefined {
  const given = isKnown(owner) && owner !== undefined ? parseOwner({ ...owner }) : undefined;
  return given ?? owners.get(specification.name);
}

/** Returns how the stack is compared with an owner that is found. */
export const selfOf = (inputs: Owned, takeOver?: string): Self => ({
  stack: inputs.owner?.stack ?? inputs.stack ?? "",
  id: ownerOf(inputs)?.id,
  takeOver,
});

/** The cluster belongs to another stack. */
export class ForeignCluster extends Error {
  override readonly name = "ForeignCluster";
  readonly next = "leave the cluster to that stack, or take it over as the line above says";

  constructor(owner: Owner, self: Self) {
    super(foreignOwner("the cluster", owner, self, TAKE_OVER_FIELD));
  }
}

/**
 * Returns whose a cluster is by its record, before anything is changed in it.
 *
 * @param takeOver the former owner, from which the stack takes over
 * @throws ForeignCluster when the record names another stack
 */
export async function assertOwnCluster(
  kubernetes: Pick<KubernetesClient, "get">,
  inputs: Owned,
  takeOver?: string,
): Promise<Ownership> {
  const self = selfOf(inputs, takeOver);
  const found = decideOwnership(await readOwner(kubernetes), self);
  if (found.is === "foreign") throw new ForeignCluster(found.owner, self);
  return found;
}
