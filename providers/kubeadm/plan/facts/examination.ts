import { printable } from "../../../../lib/text/quote";
import { nodeGroupSteps } from "../steps";
import { loginFinding } from "./login-rows";
import { type AskedMachine, linesOf, type MachineReading, type Unanswered } from "./machine-reading";
import { componentsOf } from "./components";
import { preparationOf } from "./preparation";
import { type RowFinding, findingsOf } from "./table";
import type { PreparationStep } from "../steps";

/** A machine that was asked, with what it said or why it did not answer. */
export type AnsweredMachine = Omit<AskedMachine, "reading"> & {
  readonly answer: MachineReading | Unanswered;
};

/** What machines say before they become nodes. */
export interface Examination {
  readonly findings: readonly RowFinding[];
  /** What of others each machine keeps. */
  readonly keeps: readonly { readonly machine: string; readonly what: string }[];
  readonly unread: readonly { readonly machine: string; readonly why: string }[];
  /** What the preparation of each machine changes that said so. */
  readonly preparation: readonly PreparationStep[];
  /** The images of the version's own components, by machine that could name them. */
  readonly components: ReadonlyMap<string, string>;
}

/**
 * Returns what the table of facts says about machines. One that did not answer is unread, unless the way to it is refused
 * for good.
 *
 * @param mayPass whether a login that is refused may be accepted later
 */
export function examination(
  machines: readonly AnsweredMachine[],
  { mayPass = false }: { mayPass?: boolean } = {},
): Examination {
  const asked: AskedMachine[] = [];
  const findings: RowFinding[] = [];
  const unread: { machine: string; why: string }[] = [];
  for (const { answer, ...wanted } of machines) {
    const { name } = wanted.machine;
    const finding = "unread" in answer && !mayPass ? loginFinding(name, answer) : undefined;
    if (!("unread" in answer)) asked.push({ ...wanted, reading: answer });
    else if (finding !== undefined) findings.push(finding);
    else unread.push({ machine: name, why: printable(answer.unread) });
  }
  const keeps = asked.flatMap((each) =>
    linesOf(each, "keeps").map((line) => ({ machine: each.machine.name, what: printable(line) })),
  );
  const components = asked.flatMap((each) => {
    const words = componentsOf(each);
    return words === undefined ? [] : [[each.machine.name, words] as const];
  });
  return {
    findings: [...findings, ...findingsOf(asked)],
    keeps,
    unread,
    preparation: asked.flatMap(preparationOf),
    components: new Map(components),
  };
}

/** Returns the lines of an examination that refuse nothing: warnings, what machines keep, and which did not answer. */
export function noteLines({ findings, keeps, unread }: Examination): string[] {
  return [
    ...findings.flatMap(({ level, sentence }) => (level === "warning" ? [sentence] : [])),
    ...keeps.map((each) => nodeGroupSteps.format({ kind: "keeps", ...each })),
    ...unread.map((each) => nodeGroupSteps.format({ kind: "unasked", ...each })),
  ];
}
