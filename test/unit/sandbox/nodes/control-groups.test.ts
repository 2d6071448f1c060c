import assert from "node:assert/strict";
import { requireOwnControlGroups, systemdHierarchy } from "../../../../sandbox/nodes/control-groups";

const cgroup = (own: string) => `10:cpu,cpuacct:/engine/x\n9:name=systemd:${own}\n0::/engine/y\n`;

describe("control groups of container nodes", () => {
  it("reads the row of systemd's hierarchy", () => {
    assert.equal(systemdHierarchy(cgroup("/engine/a:b/init.scope")), "/engine/a:b/init.scope");
    assert.equal(systemdHierarchy("0::/init.scope\n"), undefined);
  });

  it("refuses two nodes that share one, by name", () => {
    const texts = new Map([
      ["cp-1", cgroup("/init.scope")],
      ["w-1", cgroup("/init.scope")],
    ]);
    assert.throws(
      () => requireOwnControlGroups(texts),
      /the nodes cp-1 and w-1 share the control group \/init\.scope/,
    );
  });

  it("accepts own ones, and machines with cgroup v2 only", () => {
    requireOwnControlGroups(
      new Map([
        ["cp-1", cgroup("/a")],
        ["w-1", cgroup("/b")],
      ]),
    );
    requireOwnControlGroups(
      new Map([
        ["cp-1", "0::/\n"],
        ["w-1", "0::/\n"],
      ]),
    );
  });
});
