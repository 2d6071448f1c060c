import assert from "node:assert/strict";
import { HARDENING_CHECKS, hardeningRows } from "../../cluster/hardening/script";
import { read } from "./project";

describe("the page about hardening", () => {
  it("shows the checks that a test runs on nodes, and no others", () => {
    const shown = read("docs/hardening.md")
      .split("\n")
      .filter((line) => /^\| \d/.test(line))
      .map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    assert.deepEqual(shown, hardeningRows());
  });

  it("claims nothing of machines that no test checks", () => {
    const unchecked = HARDENING_CHECKS.filter(({ met, probe }) => met === "profile" && !probe);
    assert.deepEqual(unchecked, []);
    const ids = HARDENING_CHECKS.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const { id, met, probe } of HARDENING_CHECKS)
      if (met === "operator" || met === "not applicable") assert.equal(probe, undefined, id);
  });
});
