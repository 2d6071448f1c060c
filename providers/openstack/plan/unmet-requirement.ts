/** Something that the cloud lacks, with the property of the configuration that asks for it. */
export interface UnmetRequirement {
  property: string;
  reason: string;
}

/** An object of the cloud that people know by its name or by its id. */
export interface Named {
  id: string;
  name: string;
}

/** How much of something a project may have and has. A limit of -1 is none. */
export interface Quota {
  limit: number;
  used: number;
}

/** What a run needs of a quota. */
export interface QuotaNeed extends Quota {
  /** Of what it is, such as "servers". */
  what: string;
  /** After a number, with its space: " MiB". */
  unit: string;
  need: number;
  /** What to do besides asking for more. */
  todo: string;
}

/** The one with this name or id. @returns what is wrong when there is none, or more than one */
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

/** The quotas that a run would exceed. */
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
