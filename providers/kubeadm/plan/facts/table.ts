import { displayLine } from "../../../../lib/text/display";
import { shortened } from "../../../../lib/text/quote";
import { DISK_ROWS } from "./disk-rows";
import { type AskedMachine, factOf, type FactRow, type Found, type SharedFactRow } from "./machine-reading";
import { NETWORK_ROWS } from "./network-rows";
import { PORT_ROWS } from "./port-rows";
import { SHARED_ROWS } from "./shared-rows";
import { SOFTWARE_ROWS } from "./software-rows";
import { SYSTEM_ROWS } from "./system-rows";

/** Longest sentence about a machine, in characters. */
const LONGEST = 800;

/**
 * The table of facts: what previews, runs and `foresail doctor` read of a machine before it becomes a node, and what a node
 * needs (docs/preflight.md is made from it).
 */
export const FACT_ROWS: readonly FactRow[] = [
  ...SYSTEM_ROWS,
  ...DISK_ROWS,
  ...SOFTWARE_ROWS,
  ...NETWORK_ROWS,
  ...PORT_ROWS,
];

export { SHARED_ROWS };

/** What the table says about a machine. */
export interface RowFinding {
  readonly machine: string;
  /** Name of the row. */
  readonly name: string;
  readonly level: FactRow["level"];
  /** The machine, the fact and what to do, in one sentence or two. */
  readonly sentence: string;
}

type Row = Pick<FactRow, "name" | "level" | "fix">;

function findingOf(machine: string, { name, level, fix }: Row, found: Found): RowFinding {
  const sentence =
    "words" in found
      ? found.words
      : `${machine}: ${found.fact}. ${fix.replace(/\{(\w+)\}/g, (whole, value: string) => found.values?.[value] ?? whole)}`;
  return { machine, name, level, sentence: displayLine(shortened(sentence, LONGEST)) };
}

/**
 * Returns what the table says about machines that will become nodes: refusals first. A fact that a machine did not say is no
 * finding, and neither is anything on a machine that is a member already.
 */
export function findingsOf(asked: readonly AskedMachine[]): RowFinding[] {
  const due = asked.filter((each) => factOf(each, "member") === undefined);
  const own = due.flatMap((each) =>
    FACT_ROWS.flatMap((row) => {
      const found = row.find(each);
      return found === undefined ? [] : [findingOf(each.machine.name, row, found)];
    }),
  );
  const shared = SHARED_ROWS.flatMap((row: SharedFactRow) =>
    [...row.find(due)].map(([machine, found]) => findingOf(machine, row, found)),
  );
  const all = [...own, ...shared];
  return [
    ...all.filter(({ level }) => level === "refused"),
    ...all.filter(({ level }) => level === "warning"),
  ];
}
