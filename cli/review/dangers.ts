import { isObject } from "../../lib/json";
import { resourceMessage } from "../../lib/steps/steps";
import { type ResourceChange, DANGERS, readStep, type DangerKind } from "./steps";
import type { Preview } from "./preview";

/** Something that a reviewer should see first. */
export interface Danger {
  readonly kind: DangerKind;
  readonly resource: string;
  readonly words: string;
}

/** Returns the dangers in a preview, the worst first. */
export function findDangers(preview: Preview): Danger[] {
  const refused = preview.errors.map((error): Danger => {
    const [words = ""] = error.split("\n");
    return { kind: "refused", resource: "", words };
  });
  const controlPlanes = controlPlanesOf(preview);
  const noted = preview.notes.flatMap(dangersOfNote);
  const stepped = preview.changes.flatMap((change) => dangersOf(change, controlPlanes));
  return [...refused, ...stepped, ...noted].sort(
    (one, other) => DANGERS.indexOf(one.kind) - DANGERS.indexOf(other.kind),
  );
}

function dangersOf(change: ResourceChange, controlPlanes: ReadonlySet<string>): Danger[] {
  const resource = `${change.type} ${change.name}`;
  const found: Danger[] = [];
  if (change.operation === "replace") {
    const why = change.replaceReasons.length > 0 ? `, for a changed ${change.replaceReasons.join(", ")}` : "";
    found.push({ kind: "replaced", resource, words: `${resource} is deleted and created again${why}` });
  }
  if (change.operation === "delete")
    found.push({ kind: "deleted", resource, words: `${resource} is deleted` });
  for (const text of change.steps) {
    const kind = readStep(change.type, text).danger((name) => controlPlanes.has(name));
    if (kind !== undefined) found.push({ kind, resource, words: text });
  }
  return found;
}

/** Finds dangers in a note. A rollout's blockers are notes of its resource, because they may be temporary. */
function dangersOfNote(words: string): Danger[] {
  const { type = "", name = "", line = "" } = resourceMessage.parse(words) ?? {};
  const note = readStep(type, line);
  // a note of no known kind has no step behind it
  const kind = note.kind === undefined ? undefined : note.danger(() => false);
  return kind === undefined ? [] : [{ kind, resource: `${type} ${name}`, words }];
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

const entriesOf = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : []);
