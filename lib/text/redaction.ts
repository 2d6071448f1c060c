const SECRETS: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, "[private key]"],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "[bootstrap token]"],
  [
    /((?:password|token|secret|certificate-key|client-key-data|client-certificate-data)["']?\s*[:=]\s*)\S+/gi,
    "$1[secret]",
  ],
  [/\bBearer\s+\S+/g, "Bearer [secret]"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "[token]"],
];

/** Replaces what looks like a key, token or password in a text for messages. */
export function redact(text: string): string {
  return SECRETS.reduce((safe, [secret, replacement]) => safe.replace(secret, replacement), text);
}
