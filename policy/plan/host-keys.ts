import { isOwn, type ResourceRule } from "./rule";

/** SSH trusts no host key only because it was there first. */
export const pinnedHostKeys: ResourceRule = {
  name: "pinned-host-keys",
  description: "The SSH host keys of the machines are configured, not read at first contact.",
  parameters: {},
  check(resource) {
    if (!isOwn(resource, "HostKey")) return [];
    // CB-Tumblebug makes the machines and does not tell their keys
    if (resource.urn.includes("foresail:tumblebug:TumblebugCluster$")) return [];
    const machine = String(resource.values["machine"]);
    return [
      {
        problem: `the host key of ${machine} is whatever answers at first contact`,
        fix: `add hostKey to the machine ${machine} (ssh-keyscan prints it), and set cluster.ssh.requireHostKeys: true`,
      },
    ];
  },
};
