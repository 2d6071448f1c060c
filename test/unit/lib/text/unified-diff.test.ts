import assert from "node:assert/strict";
import { applyPatch } from "diff";
import fc from "fast-check";
import { type FileDifference, groupedDiffs, unifiedDiff } from "../../../../lib/text/unified-diff";
import { assertInert, hostileText } from "./hostile";

const lines = (...each: string[]) => each.map((line) => `${line}\n`).join("");

const file = (
  before: string | undefined,
  after: string | undefined,
  others: object = {},
): FileDifference => ({
  path: "/etc/example",
  ...(before === undefined ? {} : { before: { content: before } }),
  ...(after === undefined ? {} : { after: { content: after } }),
  ...others,
});

describe("unified diffs of files", () => {
  it("show what changes with three lines around it", () => {
    const before = lines("a", "b", "c", "d", "e", "f", "g", "h");
    assert.deepEqual(unifiedDiff(file(before, before.replace("e", "E"))), [
      "--- /etc/example",
      "+++ /etc/example",
      "@@ -2,7 +2,7 @@",
      ...[" b", " c", " d", "-e", "+E", " f", " g", " h"],
    ]);
  });

  it("show a new file, a removed file, a changed mode and a missing end of line", () => {
    assert.deepEqual(unifiedDiff(file(undefined, lines("a"))), [
      ...["--- /dev/null", "+++ /etc/example", "@@ -0,0 +1,1 @@", "+a"],
    ]);
    assert.deepEqual(unifiedDiff(file(lines("a"), undefined)).slice(0, 2), [
      "--- /etc/example",
      "+++ /dev/null",
    ]);
    const [before, after] = [
      { content: "a\n", mode: "644 root:root" },
      { content: "a", mode: "600 root:root" },
    ];
    assert.deepEqual(unifiedDiff({ path: "/f", before, after }), [
      ...["--- /f", "+++ /f", "mode 644 root:root → 600 root:root"],
      ...["@@ -1,1 +1,1 @@", "-a", "+a", "\\ No newline at end of file"],
    ]);
  });

  it("turn the text of before into that of after, for any plain text", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "  c", "- d", "+ e", "@@ f", ""), { maxLength: 12 })
      .map((each) => lines(...each));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = unifiedDiff(file(before, after));
        assert.equal(shown.length > 2, before !== after);
        if (before !== after) assert.equal(applyPatch(before, shown.join("\n") + "\n"), after);
      }),
    );
  });

  it("never show a secret", () => {
    const key = (text: string) =>
      lines("-----BEGIN PRIVATE KEY-----", text, text, "-----END PRIVATE KEY-----");
    assert.deepEqual(unifiedDiff(file(key("MIIEold"), key("MIIEnew"))).slice(2), [
      "content differs (secret)",
    ]);
    assert.deepEqual(unifiedDiff(file("one\n", "two\n", { isSecret: true })).slice(2), [
      "content differs (secret)",
    ]);
    const diff = unifiedDiff(file(lines("a: 1", "password: hunter2"), lines("a: 2", "password: hunter3")));
    assert.deepEqual(diff.slice(3), [
      ...["-a: 1", "+a: 2", " password: [secret]"],
      "(values that look secret are not shown)",
    ]);
  });

  it("show nothing that a terminal or a CI system would obey, each line on one line", () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (path, before, after) => {
        for (const line of unifiedDiff({ path, before: { content: before }, after: { content: after } })) {
          assertInert(line);
          assert.ok(!line.includes("\n"), line);
        }
      }),
    );
  });

  it("cut long diffs and long lines, and compare neither binary nor hugely different files by line", () => {
    const many = lines(...Array.from({ length: 100 }, (_, at) => `line ${at}`));
    assert.deepEqual(unifiedDiff(file(undefined, many)).slice(-2), ["+line 58", "… 41 more lines"]);
    const [, , , long = ""] = unifiedDiff(file(undefined, "x".repeat(5000)));
    assert.equal(long.length, 201);
    assert.deepEqual(unifiedDiff(file("a\0", "b\0")).slice(2), ["content differs (not text)"]);
    const [one, other] = ["a", "b"].map((name) =>
      lines(...Array.from({ length: 3000 }, (_, at) => `${name} ${at}`)),
    );
    assert.deepEqual(unifiedDiff(file(one, other)).slice(2), ["content differs (3000 lines → 3000 lines)"]);
  });
});

describe("diffs of several nodes", () => {
  it("are shown once for nodes with the same changes, also when other lines differ", () => {
    const manifest = (address: string, flag: string) =>
      file(lines(`address: ${address}`, "command:"), lines(`address: ${address}`, "command:", flag));
    const policy = { ...file("a\n", "b\n"), path: "/etc/policy" };
    const shown = groupedDiffs([
      { node: "cp-1", files: [manifest("10.0.0.1", "--x=1"), policy] },
      { node: "cp-2", files: [manifest("10.0.0.2", "--x=1"), policy] },
      { node: "w-1", files: [policy] },
    ]);
    assert.deepEqual(
      shown.filter((line) => /^[-+]{3} |:$/.test(line) && !line.startsWith(" ")),
      [
        ...["cp-1, cp-2:", "--- /etc/example", "+++ /etc/example"],
        ...["cp-1, cp-2, w-1:", "--- /etc/policy", "+++ /etc/policy"],
      ],
    );
    assert.ok(shown.includes(" address: 10.0.0.1") && !shown.includes(" address: 10.0.0.2"));
  });

  it("end after some, with the number of the others", () => {
    const files = Array.from({ length: 200 }, (_, at) => ({ ...file("a\n", `${at}\n`), path: `/f${at}` }));
    const nodes = Array.from({ length: 40 }, (_, at) => ({ node: `w-${at}`, files }));
    const shown = groupedDiffs(nodes);
    assert.ok(shown.length < 2_500, `${shown.length} lines`);
    assert.equal(shown.at(-1), `… ${40 * 200 - 300} more files without a diff`);
    const long = groupedDiffs([
      { node: "w", files: files.map((each) => ({ ...each, after: { content: "x\n".repeat(50) } })) },
    ]);
    assert.ok(long.length < 2_200, `${long.length} lines`);
    assert.match(long.at(-1) ?? "", /^… \d+ more files without a diff$/);
  });

  it("are apart for nodes with other changes", () => {
    const shown = groupedDiffs([
      { node: "w-1", files: [file("a\n", "b\n")] },
      { node: "w-2", files: [file("a\n", "c\n")] },
    ]);
    assert.deepEqual(
      shown.filter((line) => line.startsWith("w-")),
      ["w-1:", "w-2:"],
    );
  });
});
