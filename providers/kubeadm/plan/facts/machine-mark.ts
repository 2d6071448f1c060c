import { type Owner, parseOwner } from "../../../../lib/ownership/owner";
import { printable, shortened } from "../../../../lib/text/quote";

/** The content of /etc/foresail/machine: which machine of which cluster this is, and the stack that owns it. */
export interface MachineMark {
  readonly cluster: string;
  readonly machine: string;
  /** Absent in marks of earlier releases. */
  readonly owner?: Owner;
}

/** What the file of a mark contains. */
export type FoundMark = MachineMark | "none" | { readonly damaged: string };

const NAMES = "cluster=([a-z0-9-]{1,63}) machine=([a-z0-9.-]{1,63})";
const MARK = new RegExp(`^${NAMES}(?: stack=(\\S{1,302}) id=(\\S{36}))?$`);

/** Returns the names in a mark, with which every mark begins. */
export const markedNames = (cluster: string, machine: string): string =>
  `cluster=${cluster} machine=${machine}`;

/** Parses the content of a mark's file, of which the caller has cut what is too long to be one. */
export function parseMachineMark(content: string): FoundMark {
  const text = content.replace(/\n+$/, "");
  if (text === "") return "none";
  const [, cluster, machine, stack, id] = MARK.exec(text) ?? [];
  if (cluster === undefined || machine === undefined) return { damaged: printable(shortened(text)) };
  if (id === undefined) return { cluster, machine };
  const owner = parseOwner({ id, stack });
  return owner ? { cluster, machine, owner } : { damaged: printable(shortened(text)) };
}

/** The variables with which a script knows its owner. */
export interface OwnerVariables {
  OWNER_ID: string;
  OWNER_STACK: string;
}

/**
 * Returns the variables of common/owner that say which stack runs a script.
 *
 * @throws Error for an owner that is none
 */
export function ownerVariables(owner: Owner): OwnerVariables {
  if (parseOwner({ ...owner }) === undefined)
    throw new Error(`${printable(shortened(JSON.stringify(owner)))} does not identify a stack`);
  return { OWNER_ID: owner.id, OWNER_STACK: owner.stack };
}
