import { createHash } from "node:crypto";

const HASH_LENGTH = 5;

/** Returns the last characters of a hash over values, in base 36: digits and lower-case letters. */
export function shortHash(values: unknown, length = HASH_LENGTH): string {
  const digest = createHash("sha256").update(JSON.stringify(values)).digest("hex");
  return BigInt(`0x${digest}`).toString(36).padStart(50, "0").slice(-length);
}
