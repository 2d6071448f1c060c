import { z } from "zod";
import { readAnswer } from "./answer";
import type { TumblebugApi } from "./api";
import { TumblebugRefusal } from "./errors";

const check = z.union([
  z.boolean(),
  z.looseObject({ exists: z.boolean() }).transform(({ exists }) => exists),
]);

/** Asks one of the server's own checks. A namespace that is gone holds nothing. */
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
 * Reads something that may not be there. Only a 404 of a server that says so is believed by itself: any other status, whatever its
 * words, may as well be a failure, and a missing object that isn't missing would be created twice or left behind.
 *
 * @param saysNotFound whether the server answers 404 for what is missing, mostly
 * @param isThere the server's own check
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

/** Whether an error is a refusal about one of these. */
export function isRefusal(
  error: unknown,
  ...codes: readonly TumblebugRefusal["code"][]
): error is TumblebugRefusal {
  return error instanceof TumblebugRefusal && codes.includes(error.code);
}
