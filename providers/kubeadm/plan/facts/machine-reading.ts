import type { Machine } from "../cluster/machine";
import type { PodNetworkKind } from "../endpoint/network-ports";
import type { MachineSpecification } from "../cluster/pools";

/** What a machine said about itself, as text by fact. A fact that it did not say is missing. */
export interface MachineReading {
  /** When it answered, in milliseconds of the clock here. */
  readonly at: number;
  readonly facts: ReadonlyMap<string, string>;
}

/** Why a machine did not answer. */
export interface Unanswered {
  readonly unread: string;
  /** What keeps any run from working on it; absent for what may pass. */
  readonly refused?: "key" | "login" | "account" | "sudo";
}

/** What the configuration wants of a machine, and what the machine said. */
export interface AskedMachine {
  readonly machine: Pick<Machine, "name" | "role">;
  /** Address by which the other nodes reach it; absent if it is not known yet. */
  readonly internalAddress?: string | undefined;
  readonly podNetwork: PodNetworkKind;
  readonly specification: MachineSpecification;
  readonly reading: MachineReading;
}

/** Returns a fact of a machine; undefined if it did not say it. */
export const factOf = ({ reading }: Pick<AskedMachine, "reading">, name: string): string | undefined =>
  reading.facts.get(name);

/** Returns the lines of a fact; none if the machine did not say it. */
export const linesOf = (asked: Pick<AskedMachine, "reading">, name: string): string[] =>
  (factOf(asked, name) ?? "").split("\n").filter((line) => line !== "");

/** Returns a fact as a number; undefined if the machine did not say it, or it is none. */
export function numberOf(asked: Pick<AskedMachine, "reading">, name: string): number | undefined {
  const text = factOf(asked, name)?.trim();
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Tells whether a machine is a container, whose kernel, memory and processors are those of its host. */
export const isContainer = (asked: Pick<AskedMachine, "reading">): boolean =>
  factOf(asked, "container") === "yes";

/** What a row of the table finds on a machine. */
export type Found =
  /** A part of a sentence after the machine's name, and what its remedy names. */
  | { readonly fact: string; readonly values?: Readonly<Record<string, string>> }
  /** The machine's own words, which name it and the remedy. */
  | { readonly words: string };

/** One row of the table: what is read of a machine, and what a node needs of it. */
export interface FactRow {
  readonly name: string;
  /** How it is read, for the documentation. */
  readonly read: string;
  /** What a node needs, for the documentation. */
  readonly needs: string;
  /** refused: a run would fail, so that nothing is begun. warning: the machine can join, and something will fail later. */
  readonly level: "refused" | "warning";
  /** What to do, with {names} of the values that were found. */
  readonly fix: string;
  readonly find: (asked: AskedMachine) => Found | undefined;
}

/** A row about machines that are compared with each other. */
export interface SharedFactRow extends Omit<FactRow, "find"> {
  /** Returns what is found by the name of the machine. */
  readonly find: (asked: readonly AskedMachine[]) => ReadonlyMap<string, Found>;
}

/** Returns the row of a refusal whose words a function of the preparation has: the machine answers with them. */
export const ownWords = (
  row: Pick<FactRow, "name" | "read" | "needs"> & { fix?: string; fact: string },
): FactRow => {
  const { fact, fix = "as the message says", ...named } = row;
  return {
    ...named,
    level: "refused",
    fix,
    find: (asked) => {
      const words = factOf(asked, `refusal.${fact}`);
      return words === undefined ? undefined : { words };
    },
  };
};
