import { gunzipSync, gzipSync } from "node:zlib";
import type { Packed } from "./messages";

/** The most characters of a packed plan; a server refuses messages over 2 MiB. */
const MOST_CHARACTERS = 1_900_000;
/** The most bytes that a worker unpacks. */
const MOST_BYTES = 128 * 1024 * 1024;

/** Compresses the text of a plan. @throws Error for one that is too long for a message */
export function pack(stack: string, text: string): Packed {
  const packed = gzipSync(text).toString("base64");
  if (packed.length <= MOST_CHARACTERS) return packed;
  throw new Error(
    `the plan of ${stack} is too long for a Temporal server (${packed.length} characters compressed); run this stack with foresail up`,
  );
}

/** @throws Error for the outcome of a preview that is too long for a message */
export function refuseTooLong(stack: string, outcome: unknown): void {
  const { length } = JSON.stringify(outcome);
  if (length > MOST_CHARACTERS)
    throw new Error(
      `the preview of ${stack} is too long for a Temporal server (${length} characters); run this stack with foresail up`,
    );
}

/** Returns the text of a packed plan. @throws Error for one that is damaged */
export const unpack = (packed: Packed): string =>
  gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: MOST_BYTES }).toString("utf8");
