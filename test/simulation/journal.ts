import type { JournalLine, Outcome } from "./fleet-files";

/** One script's run on one machine. */
export interface JournalEntry {
  id: number;
  machine: string;
  operation: string;
  askedAt: number;
  /** when it got the machine's lock */
  startedAt?: number;
  endedAt?: number;
  /** undefined while it runs */
  outcome?: Outcome;
  /** its standard error */
  words?: string;
}

/** The journal's lines, put together into runs in the order of their requests. */
export function readJournal(lines: readonly JournalLine[]): JournalEntry[] {
  const entries = new Map<number, JournalEntry>();
  for (const line of lines) {
    const { id, machine, operation, at } = line;
    if (line.event === "asked") entries.set(id, { id, machine, operation, askedAt: at });
    const entry = entries.get(id);
    if (!entry) continue;
    if (line.event === "start") entry.startedAt = at;
    if (line.event === "end") Object.assign(entry, { endedAt: at, outcome: line.outcome, words: line.words });
  }
  return [...entries.values()];
}

/** Operations that only read a machine; a preview asks them, too. */
const READING = new Set([
  "machine-facts",
  "machine-reading",
  "adoption-facts",
  "facts",
  "configuration-differences",
  "rewritten-settings",
  "package-offer",
  "tried-kube-proxy",
]);

/** The runs that may change a machine. */
export function writesOf(journal: readonly JournalEntry[]): JournalEntry[] {
  return journal.filter(({ operation }) => !READING.has(operation));
}

/** Pairs of runs, of the named operations, that ran at the same time, anywhere in the fleet. */
export function runsAtOnce(journal: JournalEntry[], operations: string[]): [JournalEntry, JournalEntry][] {
  const runs = journal.filter(
    (entry) => operations.includes(entry.operation) && entry.startedAt !== undefined,
  );
  return runs.flatMap((one, index) =>
    runs
      .slice(index + 1)
      .filter(
        (other) =>
          one.startedAt! < (other.endedAt ?? Infinity) && other.startedAt! < (one.endedAt ?? Infinity),
      )
      .map((other): [JournalEntry, JournalEntry] => [one, other]),
  );
}

/** "operation machine" of what had its effect more than once. */
export function doneTwice(journal: JournalEntry[], operations: string[]): string[] {
  const done = journal
    .filter(({ operation, outcome }) => operations.includes(operation) && outcome === "done")
    .map(({ operation, machine }) => `${operation} ${machine}`);
  return [...new Set(done.filter((step, index) => done.indexOf(step) !== index))];
}

/** "operation machine" of scripts that came to a machine while another one of it still ran or waited there. */
export function askedTwiceAtOnce(journal: JournalEntry[]): string[] {
  return journal
    .filter((entry) =>
      journal.some(
        (other) =>
          other.id !== entry.id &&
          other.machine === entry.machine &&
          other.operation === entry.operation &&
          other.askedAt <= entry.askedAt &&
          (other.endedAt ?? Infinity) > entry.askedAt,
      ),
    )
    .map(({ operation, machine }) => `${operation} ${machine}`);
}
