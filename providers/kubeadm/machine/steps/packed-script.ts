import { gzipSync } from "node:zlib";

/** Command that unpacks a packed script on a machine for bash. Both programs are on every Debian and Ubuntu. */
export const UNPACK = "base64 -d | gunzip";

/**
 * Compresses a script to short text. State stores the input of a command resource twice and encrypted, and the engine
 * writes the whole state at every step: compression halves a machine's share (docs/benchmarks.md). A truncated script
 * does nothing, since bash never reads its closing brace.
 */
export function packScript(script: string): string {
  return gzipSync(script, { level: 9 }).toString("base64");
}
