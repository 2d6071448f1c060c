import { isDeepStrictEqual } from "node:util";
import { type FieldPath, valueAt } from "./path";

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
