import { z } from "zod";
import { cutList, quoted } from "../../../lib/text/quote";
import { type Fleet, stacksOf, type Wave } from "./fleet";
import { GATE_PARTS, type GatePart, openParts } from "./gate";
import type { Regions } from "./temporal";
import { isOpen, windowOf, windowWords } from "./window";

/** When it was said, in milliseconds since 1970. */
const at = z.number();

/** What a holder of the fleet's key has said about a run: a worker about what it did, a person about a gate. */
export const Statement = z.union([
  z.strictObject({ at, kind: z.enum(["done", "failed"]), stack: z.string() }),
  z.strictObject({
    at,
    kind: z.literal("part"),
    wave: z.string(),
    part: z.enum(GATE_PARTS),
    region: z.string(),
  }),
  z.strictObject({ at, kind: z.literal("approved"), wave: z.string() }),
]);
export type Statement = z.output<typeof Statement>;

/** How far the clocks of two workers may differ, in milliseconds. */
const CLOCKS_DIFFER = 30_000;

/** The regions that check a part of a gate: all for nodes, else that of the wave's first stack. */
export function regionsOfPart({ stacks }: Pick<Wave, "stacks">, part: GatePart, regions: Regions): string[] {
  const all = [...new Set(stacks.map((stack) => regions[stack] ?? ""))];
  return part === "nodesReady" ? all : all.slice(0, 1);
}

/** Returns the waves that have to be over before a stack begins. */
export const wavesBefore = ({ waves }: Fleet, stack: string): readonly Wave[] =>
  waves.slice(
    0,
    Math.max(
      0,
      waves.findIndex(({ stacks }) => stacks.includes(stack)),
    ),
  );

/** Returns what was said about waves, their stacks and their gates. */
export const saidAbout = <Said extends { readonly statement: Statement }>(
  waves: readonly Wave[],
  said: readonly Said[],
): Said[] =>
  said.filter(({ statement }) =>
    waves.some(({ name, stacks }) =>
      "stack" in statement ? stacks.includes(statement.stack) : statement.wave === name,
    ),
  );

/** Returns why the stacks of a wave have not ended well enough for what comes after them. */
function openStacks({ stacks }: Wave, { onFailure }: Fleet, said: readonly Statement[]): string | undefined {
  const isEnded = (stack: string) =>
    said.some(
      (one) =>
        (one.kind === "done" || (one.kind === "failed" && onFailure === "continue")) && one.stack === stack,
    );
  const open = stacks.filter((stack) => !isEnded(stack));
  return open.length === 0 ? undefined : `no worker has said that it changed ${cutList(open, ", ")}`;
}

/** Returns why a wave's gate is shut, as far as a worker can know. */
function shutGate(
  wave: Wave,
  said: readonly Statement[],
  { regions, now }: Pick<TrustContext, "regions" | "now">,
): string | undefined {
  const { name, gate, stacks } = wave;
  if (gate === undefined) return undefined;
  const ended = Math.max(
    ...said.flatMap((one) => ("stack" in one && stacks.includes(one.stack) ? [one.at] : [])),
  );
  for (const part of openParts(gate)) {
    if (part === "soak") {
      const over = ended + (gate.soakSeconds ?? 0) * 1000;
      if (now + CLOCKS_DIFFER < over)
        return `the gate of ${name} waits until ${new Date(over).toISOString()}`;
      continue;
    }
    // what was checked before a stack of the wave ran again counts no more
    const isChecked = (region: string) =>
      said.some(
        (one) =>
          one.kind === "part" &&
          one.wave === name &&
          one.part === part &&
          one.region === region &&
          one.at + CLOCKS_DIFFER >= ended,
      );
    const open = regionsOfPart(wave, part, regions).filter((region) => !isChecked(region));
    if (open.length > 0)
      return `no worker of ${cutList(open, ", ")} has checked the part ${part} of the gate of ${name}`;
  }
  const isApproved = said.some((one) => one.kind === "approved" && one.wave === name);
  return gate.approval && !isApproved
    ? `the gate of ${name} has no approval that was given with the fleet's key; to approve it: foresail fleet up --continue --approve ${name}`
    : undefined;
}

export interface TrustContext {
  /** The waves and regions of the worker's own checkout. */
  readonly fleet: Fleet;
  readonly regions: Regions;
  /** The worker's own region. */
  readonly region: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Returns why a stack is not one of this worker's checkout and region. */
export const otherRegion = (
  stack: string,
  { fleet, regions, region }: Omit<TrustContext, "now">,
): string | undefined =>
  stacksOf(fleet).includes(stack) && regions[stack] === region
    ? undefined
    : `the checkout of the worker in ${region} has no stack ${quoted(stack)} in this region; update it`;

/**
 * Returns why a worker may not change a stack now, by the fleet.yaml of its own checkout and what was said with the fleet's
 * key; undefined when it may.
 */
export function stackRefusal(
  stack: string,
  said: readonly Statement[],
  context: TrustContext,
): string | undefined {
  const { fleet, now } = context;
  const other = otherRegion(stack, context);
  if (other !== undefined) return other;
  const before = wavesBefore(fleet, stack);
  for (const wave of before) {
    const why = openStacks(wave, fleet, said) ?? shutGate(wave, said, context);
    if (why !== undefined) return why;
  }
  const window = windowOf(fleet.waves[before.length]!, stack);
  return window === undefined || isOpen(window, new Date(now))
    ? undefined
    : `its window, ${windowWords(window)}, is closed`;
}

/** Returns why a worker may not check a part of a wave's gate now; undefined when it may. */
export function partRefusal(
  { wave: name, part }: { readonly wave: string; readonly part: string },
  said: readonly Statement[],
  context: TrustContext,
): string | undefined {
  const { fleet, regions, region } = context;
  const wave = fleet.waves.find((one) => one.name === name);
  const known = wave?.gate && openParts(wave.gate).find((one) => one === part && one !== "soak");
  if (wave === undefined || known === undefined)
    return `the checkout of the worker in ${region} has no gate of ${quoted(name)} with ${quoted(part)}; update it`;
  if (!regionsOfPart(wave, known, regions).includes(region))
    return `${region} is not a region that checks the part ${known} of the gate of ${name}`;
  return openStacks(wave, fleet, said);
}
