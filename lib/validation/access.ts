import { cidrMistake, parseCidr } from "./cidr";
import { duplicateMistakes } from "./duplicates";
import type { Mistake } from "./mistake";
import { quoted } from "../text/quote";

/** Lists of blocks by what they may reach, and whether the whole world may be among them. */
export type AccessFacts = { open: boolean } & Readonly<Record<string, boolean | readonly string[]>>;

/** What is wrong with the blocks that may reach the machines from outside. */
export function accessMistakes({ open, ...blocks }: AccessFacts): Mistake[] {
  const lists = Object.entries(blocks).map(
    ([field, cidrs]) => [field, Array.isArray(cidrs) ? (cidrs as readonly string[]) : []] as const,
  );
  const repeated = lists.flatMap(([field, cidrs]) =>
    duplicateMistakes(cidrs, (cidr) => cidr).map(({ path, message }) => ({
      path: ["access", field, ...path],
      message,
    })),
  );
  return [...repeated, ...blockMistakes(lists, open)];
}

function blockMistakes(lists: readonly (readonly [string, readonly string[]])[], open: boolean): Mistake[] {
  return lists.flatMap(([field, cidrs]) =>
    cidrs.flatMap((cidr, index): Mistake[] => {
      const path = ["access", field, index];
      const wrong = cidrMistake(cidr);
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
