import { isDeepStrictEqual } from "node:util";
import { type FieldPath, valueAt } from "./path";

/** What an object of others must be like, or it is not taken. */
export interface Precondition {
  path: FieldPath;
  value: unknown;
  /** why it is not taken otherwise, and the mend */
  otherwise: string;
}

/** Why an object is not taken; undefined when it may be. */
export function preconditionFault(
  object: unknown,
  preconditions: readonly Precondition[],
): string | undefined {
  return preconditions.find(({ path, value }) => !isDeepStrictEqual(valueAt(object, path), value))?.otherwise;
}

/** What to say of an object that has to be there, and is not. @param others names of those that are */
export function missingObject(name: string, kind: string, others: readonly string[]): string {
  const there = others.length === 0 ? `there is no ${kind} at all` : `there are ${others.join(", ")}`;
  return `${name} does not exist; ${there}`;
}
