/** The differences between the old and the new inputs, path by path, as 1.2.1 reports them. Pure. */
import { elementPath, namedPath, topOfPath } from "./property-path.js";
import { isArchive, isAsset, isObject, isSecret, sameValue } from "./wire.js";
import type { Properties, Value } from "./wire.js";

export type Change = "add" | "delete" | "update";

export interface Difference {
  readonly path: string;
  readonly change: Change;
  /** The resource is replaced: only changed triggers require that. */
  readonly replace: boolean;
}

/** All differences of the inputs; omits names that begin with `__`, and `version`, which belong to the engine. */
export function diffInputs(olds: Properties, news: Properties): Difference[] {
  return diffObjects(own(olds), own(news), "").map(([path, change]) => ({
    path,
    change,
    replace: topOfPath(path) === "triggers",
  }));
}

function own(inputs: Properties): Properties {
  return Object.fromEntries(
    Object.entries(inputs).filter(([name]) => name !== "version" && !name.startsWith("__")),
  );
}

function diffObjects(olds: Properties, news: Properties, parent: string): [string, Change][] {
  const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
  return [...names].flatMap((name) => diffValues(olds[name], news[name], namedPath(parent, name)));
}

function diffValues(old: Value | undefined, fresh: Value | undefined, path: string): [string, Change][] {
  const had = old !== undefined && old !== null;
  const has = fresh !== undefined && fresh !== null;
  if (!had && !has) return [];
  if (!had) return [[path, "add"]];
  if (!has) return [[path, "delete"]];
  if (Array.isArray(old) && Array.isArray(fresh)) {
    const length = Math.max(old.length, fresh.length);
    return Array.from({ length }, (_, index) =>
      diffValues(old[index], fresh[index], elementPath(path, index)),
    ).flat();
  }
  if (isWhole(old) || isWhole(fresh) || !isObject(old) || !isObject(fresh)) {
    return sameValue(old, fresh) ? [] : [[path, "update"]];
  }
  return diffObjects(old, fresh, path);
}

/** A secret is compared as a whole, and an asset by its hash. */
function isWhole(value: Value): boolean {
  return isSecret(value) || isAsset(value) || isArchive(value);
}
