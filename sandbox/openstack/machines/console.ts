import { createHash } from "node:crypto";

/**
 * Returns what a server prints on its console at its first boot: its host key, in cloud-init's format, so that a client
 * can pin it from the cloud's API.
 * @param hostKey "ssh-ed25519 AAAA…"
 */
export function renderConsole(hostname: string, hostKey: string): string {
  const [type = "", blob = ""] = hostKey.split(" ");
  const fingerprint = createHash("sha256")
    .update(Buffer.from(blob, "base64"))
    .digest("base64")
    .replace(/=+$/, "");
  const kind = type.replace(/^ssh-/, "").toUpperCase();
  const rule = "#############################################################";
  return [
    `Debian GNU/Linux 12 ${hostname} console`,
    "",
    rule,
    "-----BEGIN SSH HOST KEY FINGERPRINTS-----",
    `256 SHA256:${fingerprint} root@${hostname} (${kind})`,
    "-----END SSH HOST KEY FINGERPRINTS-----",
    rule,
    "-----BEGIN SSH HOST KEY KEYS-----",
    `${type} ${blob} root@${hostname}`,
    "-----END SSH HOST KEY KEYS-----",
    `${hostname} login: `,
    "",
  ].join("\n");
}
