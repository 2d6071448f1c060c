import { parseUrn } from "../../lib/pulumi/state";
import type { StepRun } from "../../test/cluster/step-logs";

/** Work that took some time. */
export interface Span {
  /** Whose work it is: the engine's, foresail's resources', or a machine's. */
  readonly group: string;
  readonly label: string;
  /** Seconds since the command started. */
  readonly from: number;
  readonly to: number;
}

/** A line of the engine's output, and when it arrived, in seconds since the command started. */
export interface TimedLine {
  readonly at: number;
  readonly line: string;
}

/** An event of the engine as `--json` prints it; only the fields that matter here. */
interface EngineEvent {
  readonly resourcePreEvent?: { readonly metadata: StepMetadata };
  readonly resOutputsEvent?: { readonly metadata: StepMetadata };
  readonly summaryEvent?: { readonly isPreview: boolean };
}

interface StepMetadata {
  readonly op: string;
  readonly urn: string;
  readonly new?: { readonly custom?: boolean } | null;
}

export const ENGINE = "engine";
export const RESOURCES = "resources";

/**
 * Returns what the engine did in `pulumi up`, from the events that it prints: the preview and the update, how long each took
 * until the program's first resource, and each resource of the update. Components do no work of their own and are left out.
 *
 * @param end when the command ended
 * @throws Error when the lines have no summary of a preview and of an update
 */
export function engineSpans(lines: readonly TimedLine[], end: number): Span[] {
  const events = lines.flatMap(({ at, line }) =>
    line.startsWith("{") ? [{ at, event: JSON.parse(line) as EngineEvent }] : [],
  );
  const endOf = (isPreview: boolean) =>
    events.find(({ event }) => event.summaryEvent?.isPreview === isPreview)?.at;
  const [previewed, updated] = [endOf(true), endOf(false)];
  if (previewed === undefined || updated === undefined)
    throw new Error("the engine printed no summary of a preview and of an update");
  const phase = (label: string, from: number, to: number): Span[] => {
    const first = events.find(({ at, event }) => at >= from && isOfProgram(event.resourcePreEvent?.metadata));
    return [
      { group: ENGINE, label, from, to },
      {
        group: ENGINE,
        label: `${label}: until the first resource`,
        from,
        to: Math.min(first?.at ?? to, to),
      },
    ];
  };
  const began = new Map<string, number>();
  const resources: Span[] = [];
  for (const { at, event } of events) {
    const [before, after] = [event.resourcePreEvent?.metadata, event.resOutputsEvent?.metadata];
    if (before !== undefined) began.set(keyOf(before), at);
    const from = after && began.get(keyOf(after));
    if (from === undefined || from < previewed || after?.new?.custom !== true) continue;
    resources.push({ group: RESOURCES, label: `${after.op} ${parseUrn(after.urn).name}`, from, to: at });
  }
  return [
    ...phase("preview", 0, previewed),
    ...phase("update", previewed, updated),
    { group: ENGINE, label: "end", from: updated, to: end },
    ...resources,
  ];
}

const keyOf = ({ op, urn }: StepMetadata) => `${op} ${urn}`;

/** The engine makes the stack's own resource before the program has done anything. */
const isOfProgram = (metadata: StepMetadata | undefined) =>
  metadata !== undefined && parseUrn(metadata.urn).type !== "pulumi:pulumi:Stack";

/**
 * Returns the steps that ran on machines.
 *
 * @param start when the command started, in milliseconds of the epoch; machines are containers with the same clock
 */
export function machineSpans(runs: readonly StepRun[], start: number): Span[] {
  const seconds = (time: string) => (Date.parse(time) - start) / 1000;
  return runs.flatMap(({ machine, operation, began, ended }) =>
    ended === undefined || seconds(began) < 0
      ? []
      : [{ group: machine, label: operation, from: seconds(began), to: seconds(ended) }],
  );
}

/** Returns the times in which none of the spans lasts. */
export function gaps(spans: readonly Span[], end: number): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let covered = 0;
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    if (from > covered) found.push({ from: covered, to: from });
    covered = Math.max(covered, to);
  }
  if (end > covered) found.push({ from: covered, to: end });
  return found;
}
