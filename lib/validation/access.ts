import { cidrIssue, parseCidr } from "./cidr";
import { duplicateIssues } from "./duplicates";
import type { ValidationIssue } from "./validation-issue";
import { quoted } from "../text/quote";

/** Lists of blocks by what they may reach, and whether `open` allows access from everywhere. */
export type AccessFacts = { open: boolean } & Readonly<Record<string, boolean | readonly string[]>>;

/** Returns the validation issues of the blocks that may reach the machines from outside. */
export function accessIssues({ open, ...blocks }: AccessFacts): ValidationIssue[] {
  const lists = Object.entries(blocks).map(
    ([field, cidrs]) => [field, Array.isArray(cidrs) ? (cidrs as readonly string[]) : []] as const,
  );
  const repeated = lists.flatMap(([field, cidrs]) =>
    duplicateIssues(cidrs, (cidr) => cidr).map(({ path, message }) => ({
      path: ["access", field, ...path],
      message,
    })),
  );
  return [...repeated, ...blockIssues(lists, open)];
}

function blockIssues(
  lists: readonly (readonly [string, readonly string[]])[],
  open: boolean,
): ValidationIssue[] {
  return lists.flatMap(([field, cidrs]) =>
    cidrs.flatMap((cidr, index): ValidationIssue[] => {
      const path = ["access", field, index];
      const wrong = cidrIssue(cidr);
      if (wrong !== undefined) return [{ path, message: wrong }];
      if (parseCidr(cidr)?.prefix !== 0 || open) return [];
      return [
        {
          path,
          message: `${quoted(cidr)} is the whole world; write the blocks that need it, or \`access.open: true\``,
        },
      ];
    }),
  );
}
