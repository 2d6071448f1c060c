import { z } from "zod";
import { readAnswer } from "./answer";
import type { TumblebugApi } from "./api";
import { TumblebugRefusal } from "./errors";

const check = z.union([
  z.boolean(),
  z.looseObject({ exists: z.boolean() }).transform(({ exists }) => exists),
]);

/** Calls an existence check of the server. Returns false if the namespace does not exist. */
export async function exists(api: TumblebugApi, path: string): Promise<boolean> {
  try {
    const reply = await api.call({ method: "GET", path, isRepeatable: true });
    return readAnswer(`GET ${path}`, check, reply);
  } catch (error) {
    if (isRefusal(error, "NamespaceNotFound", "NotFound")) return false;
    throw error;
  }
}

/**
 * Reads an object that may not exist. Trusts only a 404 of a server that answers 404 for missing objects. Any other
 * error status may be a failure, whatever its message, and an object that seems missing would be created twice or
 * left behind.
 *
 * @param saysNotFound whether the server usually answers 404 for missing objects
 * @param isThere the server's existence check
 */
export async function readOrNothing<T>(
  read: () => Promise<T>,
  saysNotFound: boolean,
  isThere: () => Promise<boolean>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isRefusal(error, "NamespaceNotFound")) return undefined;
    if (saysNotFound && isRefusal(error, "NotFound") && error.status === 404) return undefined;
    if (!isRefusal(error, "NotFound", ...(saysNotFound ? [] : (["Refused"] as const)))) throw error;
    if (await isThere()) throw error;
    return undefined;
  }
}

/** Returns whether an error is a TumblebugRefusal with one of these codes. */
export function isRefusal(
  error: unknown,
  ...codes: readonly TumblebugRefusal["code"][]
): error is TumblebugRefusal {
  return error instanceof TumblebugRefusal && codes.includes(error.code);
}
