import { UNKNOWN } from "../../lib/unknown";

/**
 * Property values as Pulumi's engine sends them to a provider: JSON with marked objects for secrets, assets and
 * archives, and one marked string for a value that a preview does not know yet.
 * Source: the Pulumi SDK's resource/plugin RPC encoding (signatures in sdk/nodejs/runtime/rpc.ts).
 */
export type Value = null | boolean | number | string | Value[] | Properties;
export interface Properties {
  [name: string]: Value;
}

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
const OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
const ASSET = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7";

export { UNKNOWN };

export function isObject(value: Value | undefined): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isMarked(value: Value | undefined, signature: string): value is Properties {
  return isObject(value) && value[SIGNATURE] === signature;
}

export const isSecret = (value: Value | undefined): value is Properties => isMarked(value, SECRET);
export const isAsset = (value: Value | undefined): value is Properties => isMarked(value, ASSET);
export const isArchive = (value: Value | undefined): value is Properties => isMarked(value, ARCHIVE);

/** Marks the value as secret unless it is marked already. */
export function makeSecret(value: Value): Value {
  return isSecret(value) ? value : { [SIGNATURE]: SECRET, value };
}

/** Returns whether the value itself is unknown, secret or not. */
export function isUnknown(value: Value | undefined): boolean {
  if (isSecret(value)) return isUnknown(value["value"]);
  if (isMarked(value, OUTPUT)) return value["value"] === undefined || isUnknown(value["value"]);
  return value === UNKNOWN;
}

/** Whether the value or anything inside it is unknown. */
export function containsUnknown(value: Value | undefined): boolean {
  if (isUnknown(value)) return true;
  if (Array.isArray(value)) return value.some(containsUnknown);
  return isObject(value) && Object.values(value).some(containsUnknown);
}

/** Whether the value or anything inside it is secret. */
export function containsSecret(value: Value | undefined): boolean {
  if (isSecret(value) || (isMarked(value, OUTPUT) && value["secret"] === true)) return true;
  if (Array.isArray(value)) return value.some(containsSecret);
  return isObject(value) && Object.values(value).some(containsSecret);
}

/** Returns the plain value, without secret and output marks at any depth. */
export function reveal(value: Value): Value {
  if (isSecret(value) || isMarked(value, OUTPUT)) return reveal(value["value"] ?? UNKNOWN);
  if (Array.isArray(value)) return value.map(reveal);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reveal(inner)]));
}

/** Applies a change below a secret mark and keeps the mark. */
export function underSecret(value: Value, change: (inner: Value) => Value): Value {
  return isSecret(value) ? makeSecret(underSecret(value["value"] ?? null, change)) : change(value);
}

/** Returns whether two values are deeply equal, including marks but not the order of keys. */
export function sameValue(left: Value | undefined, right: Value | undefined): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((inner, index) => sameValue(inner, right[index]));
  }
  if (isObject(left) && isObject(right)) {
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length && names.every((name) => sameValue(left[name], right[name]))
    );
  }
  return left === right;
}
