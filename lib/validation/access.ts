import { quoted } from "../text/quote";
import { cidrIssue, parseCidr } from "./cidr";
import { duplicateIssues } from "./duplicates";
import { below, issueAt, type ValidationIssue } from "./validation-issue";

/** Lists of blocks by what they may reach, and `open`, which allows access from everywhere. */
export type AccessFacts = Readonly<Record<string, boolean | readonly string[] | undefined>>;

/** Returns the validation issues of the blocks that may reach the machines from outside. */
export function accessIssues({ open, ...lists }: AccessFacts = {}): ValidationIssue[] {
  const issueOf = (cidr: string) =>
    cidrIssue(cidr) ??
    (parseCidr(cidr)?.prefix === 0 && open !== true
      ? `${quoted(cidr)} allows every address; write the blocks that need access, or \`access.open: true\``
      : undefined);
  return Object.entries(lists).flatMap(([field, cidrs]) =>
    Array.isArray(cidrs)
      ? below(
          ["access", field],
          [
            ...duplicateIssues(cidrs as readonly string[], (cidr) => cidr),
            ...(cidrs as readonly string[]).flatMap((cidr, index) => issueAt([index], issueOf(cidr))),
          ],
        )
      : [],
  );
}
