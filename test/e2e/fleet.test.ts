import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { EXIT } from "../../cli/terminal/exit-codes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { Regions } from "../cluster/regions";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const REGIONS = ["eu1", "us1"];
const FROM = "1.35.4";
const WAVES = [
  {
    name: "canary",
    stacks: ["prod-eu1"],
    gate: { nodesReady: true, nodesReadySeconds: 120, approval: true },
  },
  { name: "rest", stacks: ["prod-*"] },
];
const STEP = `cp-1 ${FROM} → ${KUBERNETES_VERSION} (`;

describe("two regions on real nodes, upgraded in waves", function () {
  let regions: Regions;

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "test/engine/regions.test.ts upgrades simulated regions; FORESAIL_TEST_ALL=1 includes real ones",
      );
    regions = await Regions.open(REGIONS, [FROM, KUBERNETES_VERSION], WAVES);
  });

  oneAfterTheOther();

  after(async () => {
    // absent when the suite is left out
    await (regions as Regions | undefined)?.remove();
  });

  const foresail = (...args: string[]) => regions.fleet.run("fleet", ...args);

  /** Asserts which regions have the new version, and that all nodes are Ready. */
  async function assertUpgraded(upgraded: readonly string[]): Promise<void> {
    for (const region of REGIONS) {
      const [node, ...others] = await regions.nodesOf(region);
      assert.deepEqual(others, []);
      const wanted = upgraded.includes(region) ? KUBERNETES_VERSION : FROM;
      assert.equal(node?.status?.nodeInfo?.kubeletVersion, `v${wanted}`, region);
      const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
      assert.equal(ready?.status, "True", region);
    }
  }

  it("are created by one `foresail fleet up`, the canary and its gate first", async () => {
    const { exitCode, stdout } = await foresail("up", "--yes", "--approve", "canary");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /prod-eu1: done in .*[^]*gate of canary: passed[^]*prod-us1: begins/);
    await assertUpgraded([]);
  });

  it("are both touched by a change of their layer, as git says, and reviewed in one comment and one page", async () => {
    regions.git("init", "--quiet", "--initial-branch", "main");
    regions.git("add", "fleet.yaml", "stacks");
    regions.git("commit", "--quiet", "--message", "Two regions");
    regions.changeLayer({ version: KUBERNETES_VERSION });
    const changed = await foresail("changed", "--since", "main");
    assert.equal(changed.stdout, "prod-eu1\nprod-us1\n");
    const preview = await foresail("preview", "--save-plan", "plans");
    assert.equal(preview.exitCode, EXIT.done, preview.stdout);
    const { stdout: comment } = await foresail("report", "plans", "--markdown");
    for (const region of REGIONS)
      assert.match(comment, new RegExp(`^\\| \`\\w+\` +\\| \`prod-${region}\` .*\`[0-9a-f]{64}\``, "m"));
    // once for each region, beside the line of what is dangerous
    const steps = comment.split("\n").filter((line) => line.startsWith(STEP));
    assert.equal(steps.length, REGIONS.length, comment);
    assert.equal((await foresail("report", "plans", "--html", "page.html")).exitCode, EXIT.done);
    assert.ok(readFileSync(path.join(regions.folder, "page.html"), "utf8").includes(STEP));
    await assertUpgraded([]);
  });

  it("upgrade the canary, and wait for a person before the rest", async () => {
    const { exitCode, stdout } = await foresail("up", "--plan", "plans");
    assert.equal(exitCode, EXIT.paused, stdout);
    assert.match(stdout, /^canary +prod-eu1 +done$/m);
    assert.match(stdout, /foresail fleet up --continue --approve canary/);
    await assertUpgraded(["eu1"]);
  });

  it("stop at a region whose machine is dead, and say which", async () => {
    await regions.powerOff("us1");
    const { exitCode, stdout } = await foresail("up", "--continue", "--approve", "canary");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /^rest +prod-us1 +failed$/m);
    assert.ok(!stdout.includes("prod-eu1: begins"), stdout);
    assert.match(stdout, /prod-us1: failed after [^]*cp-1/);
  });

  it("are finished by --continue once the machine is back, with the same plans, and then nothing is left to do", async () => {
    await regions.powerOn("us1");
    const { exitCode, stdout } = await foresail("up", "--continue");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /continuing the run of .*: 1 of 2 stacks done/);
    assert.ok(!stdout.includes("prod-eu1: begins"), stdout);
    await assertUpgraded(REGIONS);
    for (const region of REGIONS) assert.deepEqual(await regions.stack(region).preview(), []);
  });
});
