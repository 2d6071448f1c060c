/** Returns whether a name matches a pattern in which `*` stands for any characters. */
export function matchesPattern(name: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!name.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return name === first;
  // each part at its first place leaves the most for the others
  let at = first.length;
  for (const part of rest) {
    const next = name.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
