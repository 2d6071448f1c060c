import { cidrMistake, parseCidr } from "./cidr";
import type { Mistake } from "./mistake";

/** Lists of blocks by what they may reach, and whether the whole world may be among them. */
export type AccessFacts = { open: boolean } & Readonly<Record<string, boolean | readonly string[]>>;

/** What is wrong with the blocks that may reach the machines from outside. */
export function accessMistakes({ open, ...blocks }: AccessFacts): Mistake[] {
  return Object.entries(blocks).flatMap(([field, cidrs]) =>
    (Array.isArray(cidrs) ? (cidrs as readonly string[]) : []).flatMap((cidr, index): Mistake[] => {
      const path = ["access", field, index];
      const wrong = cidrMistake(cidr);
      if (wrong !== undefined) return [{ path, message: wrong }];
      if (parseCidr(cidr)?.prefix !== 0 || open) return [];
      return [
        {
          path,
          message: `"${cidr}" is the whole world; write the blocks that need it, or \`access.open: true\``,
        },
      ];
    }),
  );
}
