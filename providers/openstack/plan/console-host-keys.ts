const BEGIN = "-----BEGIN SSH HOST KEY KEYS-----";
const END = "-----END SSH HOST KEY KEYS-----";

/**
 * The public host keys that cloud-init prints on a server's console at its first boot, "ssh-ed25519 AAAA…", without comments. Empty when
 * the console shows none, or not yet all of them.
 */
export function consoleHostKeys(log: string): string[] {
  const start = log.lastIndexOf(BEGIN);
  const end = log.indexOf(END, start);
  if (start < 0 || end < 0) return [];
  const lines = log.slice(start + BEGIN.length, end).split(/\r?\n/);
  return lines.flatMap((line) => {
    // a kernel or a log daemon may write its own words before each line
    const [key] = /(ssh-\S+|ecdsa-\S+) AAAA[A-Za-z0-9+/]+={0,3}/.exec(line) ?? [];
    return key === undefined ? [] : [key];
  });
}
