/**
 * The operating systems of machines, by ID and VERSION_ID of their os-release. Their packages have the same names, and their
 * containerd is one that the preparation configures.
 */
const SYSTEMS: Readonly<Record<string, string>> = {
  "debian 12": "Debian 12",
  "debian 13": "Debian 13",
  "ubuntu 22.04": "Ubuntu 22.04",
  "ubuntu 24.04": "Ubuntu 24.04",
};

const PROCESSORS: readonly string[] = ["x86_64", "aarch64"];

/** The systems as a machine names them, such as "debian 13". */
export const SUPPORTED_SYSTEMS: readonly string[] = Object.keys(SYSTEMS);

/** The systems in words, for messages. */
export const SYSTEM_NAMES = Object.values(SYSTEMS).join(", ");

/** Tells whether foresail supports a machine. @param text "debian 13 x86_64": its system and processor */
export function isSupported(text: string): boolean {
  const at = text.lastIndexOf(" ");
  return SUPPORTED_SYSTEMS.includes(text.slice(0, at)) && PROCESSORS.includes(text.slice(at + 1));
}
