import assert from "node:assert/strict";
import fc from "fast-check";
import { renameFields } from "../../../../lib/validation/renames";

const RENAMES = {
  "a[].size": "a[].replicas",
  disk: "volume",
  "volume.gib": "volume.sizeGiB",
  wait: "limits.wait",
};

describe("renamed fields", () => {
  it("change nothing in a value without old names, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!/"(size|disk|gib|wait)"/.test(JSON.stringify(value)));
        const { value: renamed, issues, deprecations } = renameFields(value, RENAMES);
        assert.deepEqual(renamed, value);
        assert.deepEqual([issues, deprecations], [[], []]);
      }),
    );
  });

  it("map back to the paths that were written", () => {
    const value = { a: [{ size: 1 }, { replicas: 2 }], disk: { gib: 3, type: "ssd" }, wait: 4 };
    const { value: renamed, deprecations, written } = renameFields(value, RENAMES, ["root"]);
    assert.deepEqual(renamed, {
      a: [{ replicas: 1 }, { replicas: 2 }],
      volume: { sizeGiB: 3, type: "ssd" },
      limits: { wait: 4 },
    });
    assert.deepEqual(
      deprecations.map(({ path }) => path.join(".")),
      ["root.a.0.size", "root.disk", "root.disk.gib", "root.wait"],
    );
    for (const [current, old] of [
      ["root.a.0.replicas", "root.a.0.size"],
      ["root.volume.sizeGiB", "root.disk.gib"],
      ["root.volume.type", "root.disk.type"],
      ["root.limits.wait", "root.wait"],
      ["root.limits", "root.limits"],
      ["other.volume", "other.volume"],
    ] as const) {
      const path = current.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      assert.equal(written(path).join("."), old);
    }
    assert.deepEqual(value.a[0], { size: 1 }, "the value that was given is not changed");
  });

  it("are issues beside the current names, at the old paths", () => {
    const { issues } = renameFields({ a: [{ size: 1, replicas: 2 }] }, RENAMES, ["root"]);
    assert.deepEqual(issues, [
      {
        path: ["root", "a", 0, "size"],
        message: "is the old name of root.a[0].replicas, which is given, too; remove one",
      },
    ]);
  });
});
