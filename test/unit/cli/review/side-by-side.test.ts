import assert from "node:assert/strict";
import { sideBySide } from "../../../../cli/review/text";

const difference = (reviewed: string[], current: string[]) => ({
  name: "workers",
  type: "NodeGroup",
  why: "not reviewed: w-3: join",
  reviewed,
  current,
});

describe("reviewed and current steps side by side", () => {
  it("puts equal lines in one row, and marks where they differ", () => {
    assert.deepEqual(sideBySide([difference(["w-1: join", "w-2: join"], ["w-1: join", "w-3: join"])], 60), [
      "NodeGroup workers: not reviewed: w-3: join",
      "  reviewed                   | now",
      `  ${"-".repeat(26)} | ${"-".repeat(26)}`,
      "  w-1: join                  | w-1: join",
      "! w-2: join                  | w-3: join",
      "",
    ]);
  });

  it("keeps every word of long lines, even in a narrow terminal", () => {
    const words = "w-1: cordon, drain, remove its etcd member, kubeadm reset, delete its Node";
    for (const width of [0, 40, 80, 200]) {
      const rows = sideBySide([difference([words], [])], width).slice(3, -1);
      assert.equal(rows.map((row) => row.slice(2).split(" |")[0]!.trim()).join(" "), words);
      if (width >= 50) for (const row of rows) assert.ok(row.length <= width, row);
    }
  });
});
