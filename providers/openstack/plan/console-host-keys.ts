const BEGIN = "-----BEGIN SSH HOST KEY KEYS-----";
const END = "-----END SSH HOST KEY KEYS-----";

/**
 * Returns the public host keys that cloud-init prints on a server's console at first boot: "ssh-ed25519 AAAA…", without
 * comments. The list is empty if the console has none, or not all of them yet.
 */
export function consoleHostKeys(log: string): string[] {
  const start = log.lastIndexOf(BEGIN);
  const end = log.indexOf(END, start);
  if (start < 0 || end < 0) return [];
  const lines = log.slice(start + BEGIN.length, end).split(/\r?\n/);
  return lines.flatMap((line) => {
    // The kernel or a log daemon may add a prefix to each line.
    const [key] = /(ssh-\S+|ecdsa-\S+) AAAA[A-Za-z0-9+/]+={0,3}/.exec(line) ?? [];
    return key === undefined ? [] : [key];
  });
}
