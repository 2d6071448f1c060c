import { privateKeyIssue } from "../../lib/validation/keys";

interface KeyReading {
  /** Public key in Base64, without padding; undefined if the key can't be read. */
  publicHalf?: string;
  issue?: string;
}

const read = new Map<string, KeyReading>();

/**
 * Reads an SSH private key like the SSH client, and signs with it once, because a truncated key may still be parsed.
 */
export function readSshKey(text: string): KeyReading {
  const known = read.get(text) ?? parse(text);
  read.set(text, known);
  return known;
}

const UNREADABLE =
  "can't be read by the SSH client: it was cut or changed; give the whole file again, as `ssh-keygen` wrote it";

function parse(text: string): KeyReading {
  const issue = privateKeyIssue(text);
  if (issue !== undefined) return { issue };
  // Loaded here, so that a stack with keys in an SSH agent does not load the SSH client.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { utils } = require("ssh2") as typeof import("ssh2");
  const key = utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey()) return { issue: UNREADABLE };
  if (key.type === "ssh-dss")
    return { issue: "is a DSA key, which SSH servers refuse; make another with: ssh-keygen -t ed25519" };
  return isWhole(key)
    ? { publicHalf: key.getPublicSSH().toString("base64").replace(/=+$/, "") }
    : { issue: UNREADABLE };
}

function isWhole(key: import("ssh2").ParsedKey): boolean {
  try {
    const data = Buffer.from("foresail");
    const signature = key.sign(data);
    return Buffer.isBuffer(signature) && key.verify(data, signature) === true;
  } catch {
    return false;
  }
}
