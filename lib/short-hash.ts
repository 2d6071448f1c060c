import { createHash } from "node:crypto";
import { stableJson } from "./json";

const HASH_LENGTH = 5;

/** Returns the last characters of a hash over values, in base 36: digits and lower-case letters. */
export function shortHash(values: unknown, length = HASH_LENGTH): string {
  const digest = createHash("sha256").update(JSON.stringify(values)).digest("hex");
  return BigInt(`0x${digest}`).toString(36).padStart(50, "0").slice(-length);
}

/** Returns the first characters of a hash of a value, in hexadecimal; the order of keys does not matter. */
export const stableHash = (value: unknown, length: number): string =>
  createHash("sha256").update(stableJson(value)).digest("hex").slice(0, length);
