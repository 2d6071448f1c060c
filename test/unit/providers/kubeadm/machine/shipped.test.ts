import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { filesBelow, PROJECT } from "../../../docs/project";

describe("the package", () => {
  it("ships every shell file where the compiled code reads it", function () {
    this.timeout(60_000);
    const answer = execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
      cwd: PROJECT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ files } = { files: [] }] = JSON.parse(answer) as { files: { path: string }[] }[];
    const packed = files.map(({ path }) => path);
    const shell = filesBelow("providers", ".sh");
    assert.ok(shell.length > 0);
    assert.deepEqual(
      shell.filter((file) => !packed.includes(file)),
      [],
    );
    assert.deepEqual(
      packed.filter((file) => /^providers\/.*\.ts$/.test(file)),
      [],
    );
  });
});
