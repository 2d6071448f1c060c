import { columns } from "../../terminal/table";
import type { Fleet } from "../plan/fleet";
import type { Progress } from "../plan/waves";

/** Returns a table of all stacks: their wave, and what is to be said about each. */
export function fleetTable(fleet: Fleet, title: string, textOf: (stack: string) => string): string[] {
  const rows = fleet.waves.flatMap(({ name, stacks }) => stacks.map((stack) => [name, stack, textOf(stack)]));
  return columns([["WAVE", "STACK", title], ...rows]);
}

/** Returns the table of how far each stack is. */
export const stateTable = (fleet: Fleet, { stacks }: Progress): string[] =>
  fleetTable(fleet, "STATE", (name) => stacks[name] ?? "not begun");
