import { dialUntil } from "./connection";
import type { UnknownHost } from "./target";

class Seen extends Error {}

/**
 * Asks a machine for its host key at first contact, without logging in; a jump host's key is held to its pin.
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
