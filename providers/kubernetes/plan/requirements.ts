import { isDeepStrictEqual } from "node:util";
import { type FieldPath, valueAt } from "./fields";

/** A condition for adopting an object that this stack did not create. */
export interface Precondition {
  path: FieldPath;
  value: unknown;
  /** why it is refused otherwise, and how to fix it */
  otherwise: string;
}

/** Returns why an object is refused; undefined when it may be adopted. */
export function preconditionFault(
  object: unknown,
  preconditions: readonly Precondition[],
): string | undefined {
  return preconditions.find(({ path, value }) => !isDeepStrictEqual(valueAt(object, path), value))?.otherwise;
}

/** Returns the message for a required object that does not exist. @param others names of the existing ones */
export function missingObject(name: string, kind: string, others: readonly string[]): string {
  const there = others.length === 0 ? `there is no ${kind} at all` : `there are ${others.join(", ")}`;
  return `${name} does not exist; ${there}`;
}

/** A field that an object must have. */
export interface RequiredField {
  /** `[*]` means every entry of a list, which may be empty or missing: "spec.values.nodeGroups[*].machineFlavor" */
  path: FieldPath;
  /** what needs it, where that is not obvious: "a cluster with a lease" */
  neededBy?: string;
}

const EVERY = "[*]";

/**
 * Returns the missing fields of an object as text: "spec.image", "spec.groups[0].size, which a cluster with a lease
 * needs".
 */
export function missingFields(object: unknown, required: readonly RequiredField[]): string[] {
  return required.flatMap(({ path, neededBy }) =>
    eachPath(object, path)
      .filter((each) => (valueAt(object, each) ?? "") === "")
      .map((each) => (neededBy === undefined ? each : `${each}, which ${neededBy} needs`)),
  );
}

function eachPath(object: unknown, path: FieldPath): FieldPath[] {
  const at = path.indexOf(EVERY);
  if (at === -1) return [path];
  const list = valueAt(object, path.slice(0, at));
  if (!Array.isArray(list)) return [];
  return list.flatMap((_, index) =>
    eachPath(object, `${path.slice(0, at)}[${index}]${path.slice(at + EVERY.length)}`),
  );
}
