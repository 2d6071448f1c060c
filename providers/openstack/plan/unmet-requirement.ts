/** A requirement that the cloud does not meet, with the configuration property that requires it. */
export interface UnmetRequirement {
  property: string;
  reason: string;
}

/** A cloud object that the configuration refers to by name or id. */
export interface Named {
  id: string;
  name: string;
}

/** Limit and use of a project's quota. A limit of -1 means unlimited. */
export interface Quota {
  limit: number;
  used: number;
}

/** The need of a run for a quota. */
export interface QuotaNeed extends Quota {
  /** Name of the resource, such as "servers". */
  what: string;
  /** Unit after a number, with a leading space: " MiB". */
  unit: string;
  need: number;
  /** Remediation other than a larger quota. */
  todo: string;
}

/** Finds an item by name or id. @returns the item, or an error message if there is none or more than one */
export function findNamed<Item extends Named>(
  what: string,
  desired: string,
  items: readonly Item[],
): Item | string {
  const found = items.filter(({ id, name }) => id === desired || name === desired);
  const byId = found.find(({ id }) => id === desired);
  if (byId) return byId;
  const [first] = found;
  if (first && found.length === 1) return first;
  if (first)
    return `the cloud has ${found.length} ${what}s called "${desired}"; write the id of one: ${found.map(({ id }) => id).join(", ")}`;
  const names = [...new Set(items.map(({ name }) => name))].sort();
  const shown = names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
  return `the cloud has no ${what} "${desired}"; it has ${names.length === 0 ? "none at all" : shown}`;
}

/** Returns the quotas that a run would exceed. */
export function exceededQuotas(needs: readonly QuotaNeed[]): UnmetRequirement[] {
  return needs
    .filter(({ need, limit, used }) => limit >= 0 && need > 0 && used + need > limit)
    .map(({ what, unit, need, limit, used, todo }) => ({
      property: "openstack.pools",
      reason:
        `this run needs ${need}${unit} more of the quota for ${what}, and of ${limit}${unit} ${used}${unit} are in use; ` +
        `ask for more, or ${todo}`,
    }));
}
