import { isObject } from "../../../../lib/json";
import { displayLine } from "../../../../lib/text/display";
import { shortened } from "../../../../lib/text/quote";

/** A change that failed on a node, which went back to what it had. */
export interface FailedChange {
  /** The versions that were asked of it and that it did not have, by software. */
  asked: Record<string, string>;
  /** The last words of what failed, on one line. */
  why: string;
}

const LONGEST_REASON = 500;

/** Returns the value of the annotation for a failed change. */
export const formatFailedChange = ({ asked, why }: FailedChange): string =>
  JSON.stringify({ asked, why: shortened(displayLine(why), LONGEST_REASON) });

/** Parses the annotation, which others may be able to write; undefined for any other text, or none. */
export function parseFailedChange(text: string | undefined): FailedChange | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { asked, why } = value;
  if (!isObject(asked) || typeof why !== "string" || Object.keys(asked).length === 0) return undefined;
  if (Object.values(asked).some((version) => typeof version !== "string")) return undefined;
  return {
    asked: asked as Record<string, string>,
    why: shortened(displayLine(why), LONGEST_REASON),
  };
}
