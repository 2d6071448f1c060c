import type { ResourceChange } from "./change";
import type { Preview } from "./preview";
import { isVersionStep, readStepLine } from "./step-line";

/** Something that a reviewer should see first. */
export interface Danger {
  readonly kind: "refused" | "replaced" | "deleted" | "lost" | "blocked" | "control plane" | "unread";
  readonly resource: string;
  /** A sentence for messages. */
  readonly words: string;
}

/** The order in which a reviewer should read them. */
const ORDER: readonly Danger["kind"][] = [
  "refused",
  "replaced",
  "deleted",
  "lost",
  "blocked",
  "control plane",
  "unread",
];

/** Words that only a step of a control plane contains. */
const CONTROL_PLANE = /\bcontrol plane\b|\betcd member\b|\bkubeadm upgrade apply\b/;
const OUTAGE = /\bAPI does not answer\b/;
const UNREAD = /\bcould not be read\b/;
const BLOCKED = /\b(blocks?|blocked|refuses?|refused|drain would|will be lost|PodDisruptionBudget)\b/;

/** Returns the dangers in a preview, the worst first. */
export function findDangers(preview: Preview): Danger[] {
  const refused = preview.errors.map((words): Danger => ({
    kind: "refused",
    resource: "",
    words: firstLine(words),
  }));
  const controlPlanes = controlPlanesOf(preview);
  const noted = preview.notes.flatMap(dangersOfNote);
  const stepped = preview.changes.flatMap((change) => dangersOf(change, controlPlanes));
  return [...refused, ...stepped, ...noted].sort(
    (one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind),
  );
}

function dangersOf(change: ResourceChange, controlPlanes: ReadonlySet<string>): Danger[] {
  const resource = `${change.type} ${change.name}`;
  const found: Danger[] = [];
  if (change.operation === "replace") {
    const why = change.replaceReasons.length > 0 ? `, for a changed ${change.replaceReasons.join(", ")}` : "";
    found.push({ kind: "replaced", resource, words: `${resource} is deleted and made anew${why}` });
  }
  if (change.operation === "delete")
    found.push({ kind: "deleted", resource, words: `${resource} is deleted` });
  for (const text of change.steps) {
    const kind = kindOf(text, controlPlanes);
    if (kind !== undefined) found.push({ kind, resource, words: text });
  }
  return found;
}

/** Finds dangers in a note. A rollout's blockers are notes of its resource, because they may be temporary. */
function dangersOfNote(words: string): Danger[] {
  const resource = words.slice(0, words.indexOf(": "));
  if (UNREAD.test(words)) return [{ kind: "unread", resource, words }];
  if (OUTAGE.test(words)) return [{ kind: "control plane", resource, words }];
  return BLOCKED.test(words) ? [{ kind: "blocked", resource, words }] : [];
}

function kindOf(text: string, controlPlanes: ReadonlySet<string>): Danger["kind"] | undefined {
  const line = readStepLine(text);
  if (line.kind === "remark") return UNREAD.test(text) ? "unread" : undefined;
  // the remark before it has the reason
  if (line.kind === "unread" || line.kind === "unknown") return undefined;
  if (line.rest.startsWith("lost, ")) return "lost";
  if (BLOCKED.test(line.rest)) return "blocked";
  if (CONTROL_PLANE.test(line.rest)) return "control plane";
  if (/\bdelete its (Node|VM)\b/.test(line.rest)) return "deleted";
  return isVersionStep(line) && controlPlanes.has(line.machine) ? "control plane" : undefined;
}

/** Returns the names of the control planes, as far as the inputs of the changed resources contain them. */
function controlPlanesOf({ changes }: Preview): Set<string> {
  const machines = changes.flatMap(({ inputs }) => [
    ...entriesOf(inputs["controlPlanes"]),
    ...entriesOf(inputs["machines"]).filter(
      ({ role }) => role === "control-plane" || inputs["group"] === "control-plane",
    ),
  ]);
  return new Set(machines.map(({ name }) => String(name)));
}

function entriesOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each): each is Record<string, unknown> => typeof each === "object" && each !== null);
}

const firstLine = (text: string): string => text.split("\n")[0] ?? text;
