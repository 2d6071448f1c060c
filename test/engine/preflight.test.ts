import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

describe("machines that join, under the engine", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-2"] });
  const want = (machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });

  before(async () => {
    want(["cp-1"]);
    await fixture.stack.up();
  });

  it("refuses a machine in the preview that would lose packages of others, in its own words, and changes nothing", async () => {
    want(["cp-1", "w-2"]);
    const stderr = "w-2: the installation of containerd would remove these packages: docker-ce";
    const before = fixture.fleet.journal.length;
    fixture.fleet.inject({ operation: "preflight", machine: "w-2", kind: "fail", exitCode: 78, stderr });
    const answer = await fixture.stack.call(["preview"]);
    assert.notEqual(answer.exitCode, 0);
    assert.match(
      answer.stdout + answer.stderr,
      /w-2: the installation of containerd would remove these packages: docker-ce/,
    );
    const after = fixture.fleet.journal.slice(before);
    const asked = after.map(({ operation, machine }) => `${operation} ${machine}`);
    assert.ok(asked.includes("preflight w-2"));
    const questions = ["preflight w-2", "machine-facts w-2"];
    assert.deepEqual(
      asked.filter((each) => !questions.includes(each)),
      [],
    );
    // a machine that does not answer the question is only noted
    fixture.fleet.inject({ operation: "preflight", machine: "w-2", kind: "fail", stderr: "no sudo" });
    const noted = await fixture.stack.call(["preview", "--diff"]);
    assert.equal(noted.exitCode, 0, noted.stdout);
    assert.match(
      noted.stdout + noted.stderr,
      /w-2: could not be asked whether it can join; the run asks it first: .*no sudo/,
    );
  });

  it("refuses a machine in the preview whose clock differs, and changes nothing", async () => {
    want(["cp-1", "w-2"]);
    const { files, journal } = fixture.fleet;
    const setClock = (clockOffset: number) => files.saveState("w-2", { ...files.state("w-2"), clockOffset });
    const before = journal.length;
    setClock(-10_800);
    const refused = await fixture.stack.call(["preview"]);
    assert.notEqual(refused.exitCode, 0);
    assert.match(refused.stdout + refused.stderr, /the clock of w-2 is 3 hours behind the clock here/);
    assert.deepEqual(
      journal.slice(before).filter(({ operation }) => !["preflight", "machine-facts"].includes(operation)),
      [],
    );
    setClock(60);
    const near = await fixture.stack.call(["preview"]);
    assert.equal(near.exitCode, 0, near.stdout);
    assert.doesNotMatch(near.stdout + near.stderr, /clock|keeps/);
  });
});
