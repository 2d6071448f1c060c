import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

const SHA256 = /^[0-9a-f]{64}$/i;

/**
 * Finds the SHA-256 sum of a file in what its publisher wrote: the sum alone, or lines of "SUM  NAME" (a `*` or `./`
 * before the name is allowed).
 * @throws Error when there is none
 */
export function publishedChecksum(text: string, fileName: string): string {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  for (const [sum = "", name] of lines) {
    if (!SHA256.test(sum)) continue;
    if (name === undefined && lines.filter(([word]) => word !== "").length === 1) return sum.toLowerCase();
    if (name?.replace(/^\*/, "").replace(/^\.\//, "") === fileName) return sum.toLowerCase();
  }
  throw new Error(`the published checksums do not name ${fileName}`);
}

/** The SHA-256 sum of a file, in lower-case hexadecimal. */
export async function fileChecksum(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
