import { dialUntil } from "./connection";
import type { UnknownHost } from "./target";

class Seen extends Error {}

/**
 * Returns a machine's host key at first contact, without logging in. A jump host must present its pinned key.
 *
 * @returns "type base64", ed25519 when the machine has one
 * @throws SshUnreachable at the deadline
 */
export async function scanHostKey(
  target: UnknownHost,
  seconds: number,
  signal?: AbortSignal,
): Promise<string> {
  let seen: string | undefined;
  try {
    const dialed = await dialUntil(target, { seconds, signal }, (found) => {
      seen = found;
      return new Seen();
    });
    dialed.close();
  } catch (error) {
    if (!(error instanceof Seen) || seen === undefined) throw error;
  }
  return seen!;
}
