import { plural } from "../../../lib/text/plural";
import type { Fleet, Gate } from "./fleet";
import type { Progress } from "./waves";

/** The parts of a gate in their order; a person's approval comes last and is never kept. */
export const GATE_PARTS = ["soak", "nodesReady", "url", "command"] as const;
export type GatePart = (typeof GATE_PARTS)[number];

/** The parts that have passed, by the gate's wave. */
export type PassedParts = Readonly<Record<string, readonly GatePart[]>>;

/** Returns the parts of a gate that are left to check, in their order. */
export function openParts(gate: Gate, passed: readonly GatePart[] = []): GatePart[] {
  const has: Record<GatePart, boolean> = {
    soak: gate.soakSeconds !== undefined,
    nodesReady: gate.nodesReady === true,
    url: gate.url !== undefined,
    command: gate.command !== undefined,
  };
  return GATE_PARTS.filter((part) => has[part] && !passed.includes(part));
}

/** Returns what a run does about a part of a gate: "running ./check.sh". */
export function partWords({ soakSeconds = 0, url, command = [] }: Gate, part: GatePart): string {
  switch (part) {
    case "soak":
      return `waiting ${plural(soakSeconds, "second")}`;
    case "nodesReady":
      return "waiting until all nodes are Ready";
    case "url":
      return `waiting for ${url}`;
    case "command":
      return `running ${command.join(" ")}`;
  }
}

/** Returns the parts that still count when a run goes on: not those of a wave with a stack that will run again. */
export function keptParts(fleet: Fleet, { stacks }: Progress, passed: PassedParts): PassedParts {
  const isDone = (wave: string) =>
    fleet.waves.some((one) => one.name === wave && one.stacks.every((stack) => stacks[stack] === "done"));
  return Object.fromEntries(Object.entries(passed).filter(([wave]) => isDone(wave)));
}

/** The parts of a Node that say whether it is Ready. */
interface ReadyNode {
  readonly metadata?: { readonly name?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Returns the names of the nodes that are not Ready. */
export const notReady = (nodes: readonly ReadyNode[]): string[] =>
  nodes.flatMap(({ metadata, status }) => {
    const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    return isReady ? [] : [metadata?.name ?? "a node without a name"];
  });
