/** Property paths in the form that Pulumi prints: `connection.proxy.port`, `triggers[0]`, `environment["a.b"]`. */

/** The path of a named property inside another; `parent` is "" at the top. */
export function namedPath(parent: string, name: string): string {
  const plain = /^[A-Za-z_$][\w$]*$/.test(name);
  if (!plain) return `${parent}[${JSON.stringify(name)}]`;
  return parent === "" ? name : `${parent}.${name}`;
}

/** The path of a list's element. */
export function elementPath(parent: string, index: number): string {
  return `${parent}[${String(index)}]`;
}

/** The property at the top of a path. */
export function topOfPath(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}
