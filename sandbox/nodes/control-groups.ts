/** The path in the row of systemd's own hierarchy in a /proc/PID/cgroup, if this machine has one (cgroup v1). */
export function systemdHierarchy(cgroup: string): string | undefined {
  return cgroup
    .split("\n")
    .map((row) => row.split(":"))
    .find(([, controllers]) => controllers === "name=systemd")
    ?.slice(2)
    .join(":");
}

/**
 * Rejects nodes whose systemd instances manage the same control groups: stopping a service on one would stop it on all.
 * @param cgroups node name → text of /proc/PID/cgroup of its first process
 * @throws Error that names the nodes
 */
export function requireOwnControlGroups(cgroups: ReadonlyMap<string, string>): void {
  const owners = new Map<string, string>();
  for (const [node, text] of cgroups) {
    const own = systemdHierarchy(text);
    if (own === undefined) continue;
    const other = owners.get(own);
    if (other !== undefined) {
      throw new Error(
        `the nodes ${other} and ${node} share the control group ${own} of systemd, so stopping a service on one would ` +
          "stop it on the other; the container engine mounted this machine's hierarchy over the private one",
      );
    }
    owners.set(own, node);
  }
}
