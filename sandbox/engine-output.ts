/**
 * Lines without information for the user: progress dots, links to a web console, advice on what the sandbox does
 * itself.
 */
const NOISE = [
  /^@ /,
  /^\s*$/,
  /^View (Live|in Browser)/i,
  /^\s*More information at:/,
  /^The resources in the stack have been deleted/,
  /^If you want to remove the stack completely/,
];

/**
 * Makes the engine's output readable line by line: drops noise and repeated lines and indents the rest.
 * @returns a function that takes a line and returns what to print, or undefined for nothing
 */
export function readableLines(): (line: string) => string | undefined {
  let last: string | undefined;
  let inOutputs = false;
  return (raw) => {
    const line = raw.trimEnd();
    if (NOISE.some((pattern) => pattern.test(line))) return undefined;
    // the outputs contain whole objects and secrets; the useful ones are printed at the end
    if (/^Outputs:/.test(line)) inOutputs = true;
    else if (/^\S/.test(line)) inOutputs = false;
    if (inOutputs || line === last) return undefined;
    last = line;
    return `  ${line}`;
  };
}

/** Returns whether a preview lists no change, neither of a resource nor of an output. */
export function changesNothing(preview: string): boolean {
  const words = Object.keys(countChanges(preview));
  return words.every((word) => word === "unchanged") && !/^Outputs:/m.test(preview);
}

/** Parses the last `Resources:` block of an `up` or `destroy`, such as `{ unchanged: 12, created: 2 }`. */
export function countChanges(output: string): Record<string, number> {
  const block = output.slice(output.lastIndexOf("Resources:"));
  const counts: Record<string, number> = {};
  for (const [, count, word] of block.matchAll(/^\s+(?:[-+~]{1,2}\s*)?(\d+) ([a-z-]+)/gm)) {
    if (word !== undefined) counts[word] = Number(count);
  }
  return counts;
}
