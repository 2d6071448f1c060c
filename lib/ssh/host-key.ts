import type { ServerHostKeyAlgorithm } from "ssh2";

const ALGORITHMS: Record<string, ServerHostKeyAlgorithm[]> = {
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
};

/** The preference order of host key types at first contact. */
export const PREFERRED_ALGORITHMS: ServerHostKeyAlgorithm[] = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "rsa-sha2-512",
  "rsa-sha2-256",
];

/** Returns the signature algorithms of a pinned key's type: a server with several keys must present this one. */
export function algorithmsOf(hostKey: string): ServerHostKeyAlgorithm[] {
  const type = hostKey.trim().split(/\s+/)[0] ?? "";
  return ALGORITHMS[type] ?? [type as ServerHostKeyAlgorithm];
}

/** Returns a key in wire format as "type base64". */
export function formatHostKey(wire: Buffer): string {
  const length = wire.readUInt32BE(0);
  return `${wire.subarray(4, 4 + length).toString("ascii")} ${wire.toString("base64")}`;
}

/** Returns whether two keys in the form "type base64 comment" are the same key. */
export function isSameHostKey(one: string, other: string): boolean {
  const key = (text: string) => text.trim().split(/\s+/).slice(0, 2).join(" ");
  return key(one) === key(other);
}
