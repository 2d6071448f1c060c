import assert from "node:assert/strict";
import { readPreview } from "../../cli/review/preview";
import { writesOf } from "../simulation/journal";
import { desiredCluster } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { simulatedFixture } from "./simulated-fixture";

describe("a preparation that runs again, under the engine", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  const withFile = (content: string, others: Record<string, unknown> = {}) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"], {
        files: [{ path: "/etc/own/a", content }],
        ...others,
      }),
    });

  /** The lines of a preview that are steps. */
  async function previewed(): Promise<string[]> {
    const { stdout } = await fixture.stack.call(["preview", "--json"]);
    return readPreview(stdout).changes.flatMap(({ steps }) => steps);
  }

  /** Runs `up`, and returns what machines did, "OPERATION MACHINE" each. */
  async function ran(): Promise<string[]> {
    const from = fixture.fleet.journal.length;
    await fixture.stack.up();
    return writesOf(fixture.fleet.journal.slice(from))
      .filter(({ operation, outcome }) => /^(prepare|init|join)/.test(operation) && outcome === "done")
      .map(({ operation, machine }) => `${operation} ${machine}`)
      .sort();
  }

  it("lists what another revision of the preparation writes on machines that have not joined", async () => {
    const own = (lines: string[]) => lines.filter((line) => line.includes("/etc/own/a")).sort();
    withFile("one\n");
    assert.deepEqual(own(await previewed()).length, 2);
    fixture.fleet.inject({ operation: "init", machine: "cp-1", kind: "fail", stderr: "no etcd" });
    assert.notEqual((await fixture.stack.call(["up", "--yes", "--skip-preview"])).exitCode, 0);
    assert.deepEqual(own(await previewed()), []);
    // the commands have run, and other contents alone do not run them again
    withFile("two\n");
    assert.deepEqual(own(await previewed()), []);
    withFile("two\n", { bootstrapRevision: "2" });
    assert.deepEqual(own(await previewed()), ["cp-1: replace /etc/own/a", "w-1: replace /etc/own/a"]);
    assert.deepEqual(await ran(), ["init cp-1", "join-worker w-1", "prepare cp-1", "prepare w-1"]);
  });

  it("lists what is written after a killed preparation that the machine has ended meanwhile", async () => {
    await fixture.stack.destroy();
    withFile("one\n");
    await killedDuring(fixture, { operation: "prepare", machine: "w-1" });
    withFile("two\n");
    const lines = await previewed();
    assert.ok(lines.includes("w-1: replace /etc/own/a"), lines.join("\n"));
    assert.ok((await ran()).includes("prepare w-1"));
  });
});
