import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { projectFolder } from "../../../../sandbox/paths";

const HOUR = 3_600_000;
const clock = (at: number) => new Date(at).toISOString().slice(11, 16);

describe("the commands of a pipeline for one wave", function () {
  this.timeout(60_000);
  let folder: string;
  const foresail = (...args: string[]) => {
    const cli = path.join(projectFolder, "bin/cli/cli.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "fleet", ...args], {
      cwd: folder,
      encoding: "utf8",
      // no engine: these commands read files only
      env: { PATH: "/bin:/usr/bin" },
    });
    return { status, printed: stdout + stderr };
  };

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-wave-"));
    const write = (name: string, value: unknown) => writeFileSync(path.join(folder, name), stringify(value));
    write("Pulumi.yaml", { name: "foresail" });
    for (const stack of ["a", "b", "c", "d", "e", "f"]) write(`Pulumi.${stack}.yaml`, {});
    const now = Date.now();
    const window = (from: number, to: number) => ({
      from: clock(now + from * HOUR),
      to: clock(now + to * HOUR),
      timeZone: "UTC",
    });
    write("fleet.yaml", {
      waves: [
        { name: "open", stacks: ["a"], window: window(-2, 2), gate: { command: ["true"], approval: true } },
        {
          name: "closed",
          stacks: ["b"],
          window: window(3, 4),
          gate: { command: ["sh", "-c", "echo why; exit 3"] },
        },
        { name: "plain", stacks: ["c"] },
        { name: "regions", stacks: ["d", "e", "f"], window: window(-2, 2) },
      ],
      windows: [{ stacks: ["e"], ...window(3, 4) }],
    });
  });
  after(() => rmSync(folder, { recursive: true }));

  it("check a gate without asking for its approval", () => {
    assert.deepEqual(foresail("gate", "--wave", "open"), {
      status: 0,
      printed: "gate of open: running true\ngate of open: passed\n",
    });
    assert.equal(foresail("gate", "--wave", "plain").status, 0);
  });

  it("fail with the gate", () => {
    const { status, printed } = foresail("gate", "--wave", "closed");
    assert.equal(status, 1);
    assert.match(printed, /gate of closed: failed: exit code 3: why/);
  });

  it("end with exit code 4 outside of a window, and with 0 in it or without one", () => {
    const { status, printed } = foresail("window", "--wave", "closed");
    assert.equal(status, 4);
    assert.match(
      printed,
      /wave closed: its window, .* UTC, is closed until .*; to go on then: foresail fleet window --wave closed/,
    );
    assert.equal(foresail("window", "--wave", "open").status, 0);
    assert.equal(foresail("window", "--wave", "plain").status, 0);
  });

  it("ask for the stack in a wave whose stacks have windows of their own, and check the window of that one", () => {
    const ofStack = (stack: string) => foresail("window", "--wave", "regions", "--stack", stack);
    const { status, printed } = ofStack("e");
    assert.equal(status, 4);
    assert.match(
      printed,
      /e: its window, .* is closed until .*; to go on then: foresail fleet window --wave regions --stack e$/m,
    );
    assert.equal(ofStack("d").status, 0);
    const unnamed = foresail("window", "--wave", "regions");
    assert.equal(unnamed.status, 2);
    assert.match(
      unnamed.printed,
      /stacks of the wave regions have windows of their own \(e\); name the stack with --stack/,
    );
    const other = ofStack("a");
    assert.equal(other.status, 2);
    assert.match(other.printed, /--stack "a" is not in the wave regions; it has d, e, f/);
  });

  it("refuse what is not a wave", () => {
    const { status, printed } = foresail("gate", "--wave", "other");
    assert.equal(status, 2);
    assert.match(printed, /--wave "other" is not a wave of fleet\.yaml; it has open, closed, plain, regions/);
  });
});
