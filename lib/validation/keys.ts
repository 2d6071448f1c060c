import { X509Certificate } from "node:crypto";

const HOST_KEY_TYPES = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
];

/** Key types of hardware tokens, which users have but hosts do not. */
const TOKEN_KEY_TYPES = ["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"];

/** Returns the base64 of a public key ("ssh-ed25519 AAAA… comment") whose type and length agree, or undefined. */
export function publicKeyBody(text: string): string | undefined {
  const [type = "", body = ""] = text.trim().split(/\s+/);
  const bytes = Buffer.from(body, "base64");
  const length = bytes.length > 4 ? bytes.readUInt32BE(0) : 0;
  const inside = bytes.subarray(4, 4 + length).toString("latin1");
  // Compares without padding, since some tools remove it.
  const unpadded = body.replace(/=+$/, "");
  const isWhole = bytes.toString("base64").replace(/=+$/, "") === unpadded;
  return inside === type && isWhole && fieldsEnd(bytes) === bytes.length ? unpadded : undefined;
}

/**
 * Returns the end of a key's length-prefixed fields; -1 when one is incomplete. There are at least two: the type and a
 * number.
 */
function fieldsEnd(bytes: Buffer): number {
  let [at, fields] = [0, 0];
  while (at + 4 <= bytes.length) {
    at += 4 + bytes.readUInt32BE(at);
    fields += 1;
  }
  return fields >= 2 ? at : -1;
}

/** Returns the issue of a public SSH key as a line of authorized_keys, or undefined. */
export function publicKeyIssue(text: string): string | undefined {
  if (text.includes("PRIVATE KEY"))
    return "is a private key; write the public one, and replace the key that was shown";
  const [type = ""] = text.trim().split(/\s+/);
  if (![...HOST_KEY_TYPES, ...TOKEN_KEY_TYPES].includes(type) || /[\r\n]/.test(text.trim()))
    return 'is not a public SSH key; write the line of a .pub file, "ssh-ed25519 AAAA…"';
  return publicKeyBody(text) === undefined
    ? "is a cut or mistyped public key; copy the whole line of the .pub file again"
    : undefined;
}

/** Returns the issue of a public SSH host key ("ssh-ed25519 AAAA… comment"), or undefined. */
export function hostKeyIssue(text: string): string | undefined {
  if (text.includes("PRIVATE KEY"))
    return 'is a private key; write the public one, "ssh-ed25519 AAAA…", and replace the key that was shown';
  const [type = "", body = ""] = text.trim().split(/\s+/);
  if (!HOST_KEY_TYPES.includes(type)) {
    return HOST_KEY_TYPES.includes(body)
      ? `starts with the name of a host; write the key alone, "${body} AAAA…"`
      : `is not a public host key; write e.g. "ssh-ed25519 AAAA…", as \`ssh-keyscan\` prints it after the host`;
  }
  return publicKeyBody(text) === undefined
    ? "is a cut or mistyped host key; copy the whole line again"
    : undefined;
}

/** Returns the issue of an SSH private key's format, or undefined. The message never repeats the key. */
export function privateKeyIssue(text: string): string | undefined {
  if (HOST_KEY_TYPES.some((type) => text.startsWith(`${type} `)))
    return "is a public key; give the private one";
  const match = /^\s*-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\r?\n([\s\S]+?)\r?\n-----END \1-----\s*$/.exec(
    text,
  );
  if (!match)
    return 'is not a private key; give the whole file, from "-----BEGIN … PRIVATE KEY-----" to the END line';
  const body = match[2] ?? "";
  const isOpenssh = match[1] === "OPENSSH PRIVATE KEY";
  const start = Buffer.from(body.replace(/\s/g, ""), "base64").subarray(0, 23).toString("latin1");
  if (isOpenssh && !/^openssh-key-v1\0\0\0\0[^\0][a-z0-9]/.test(start))
    return "can't be read by the SSH client: it was cut or changed; give the whole file again, as `ssh-keygen` wrote it";
  const opensshLocked = isOpenssh && !start.endsWith("\0\0\0\x04none");
  if (match[1] === "ENCRYPTED PRIVATE KEY" || body.includes("Proc-Type: 4,ENCRYPTED") || opensshLocked) {
    return "is protected by a passphrase, which can't be typed here; use the SSH agent, or a key without passphrase";
  }
  if (match[1] === "PRIVATE KEY")
    return "is in PKCS#8 format, which the SSH client does not read; write it in OpenSSH's own with: ssh-keygen -p -f FILE";
  return undefined;
}

/** Returns the issue of a bundle of PEM certificates, or undefined. */
export function certificateBundleIssue(text: string): string | undefined {
  if (text.includes("PRIVATE KEY"))
    return "contains a private key; leave only the certificates, and replace the key that was shown";
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0)
    return 'contains no certificate; write PEM, from "-----BEGIN CERTIFICATE-----" to the END line';
  const broken = blocks.findIndex((block) => !isCertificate(block));
  return broken < 0 ? undefined : `certificate ${broken + 1} of ${blocks.length} is broken; copy it again`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== null;
  } catch {
    return false;
  }
}
