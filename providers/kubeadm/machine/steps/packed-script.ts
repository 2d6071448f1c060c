import { gzipSync } from "node:zlib";

/** What unpacks a packed script on a machine, before it goes to bash. Both programs are on every Debian and Ubuntu. */
export const UNPACK = "base64 -d | gunzip";

/**
 * A script as small text. State keeps what a command resource sends, twice and encrypted, and the engine writes the
 * whole state at every step: packed, what is kept of a machine takes half of the room (docs/benchmarks.md). A
 * script cut off on its way does nothing, since bash never sees its closing brace.
 */
export function packScript(script: string): string {
  return gzipSync(script, { level: 9 }).toString("base64");
}
