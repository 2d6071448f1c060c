import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";
import type { PreviewStep } from "./test-stack";

describe("a preview under the engine while no API server answers", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "cp-2", "cp-3", "w-1"] });
  const allSteps = (preview: PreviewStep[]) =>
    preview.flatMap(({ inputs }) => (inputs.steps ?? []) as string[]);
  const expectUnchanged = async () => assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);

  before(async () => {
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1", "cp-2", "cp-3", "w-1"]) });
    await fixture.stack.up();
    await expectUnchanged();
  });

  it("lists each machine as unread, in at most 15 seconds, and changes nothing else", async () => {
    const planes = ["cp-1", "cp-2", "cp-3"];
    const started = Date.now();
    assert.deepEqual(allSteps(await fixture.stack.preview()), []);
    const answered = Date.now();
    for (const name of planes) fixture.fleet.powerOff(name);
    const preview = await fixture.stack.preview();
    const extra = Date.now() - answered - (answered - started);
    for (const name of planes) fixture.fleet.powerOn(name);
    const lines = allSteps(preview).filter((line) => !line.startsWith("from the recorded state, "));
    assert.deepEqual(
      lines.filter(
        (line) => !/^([\w-]+: unread|cluster: not compared, since it could not be read): /.test(line),
      ),
      [],
    );
    assert.deepEqual([...new Set(lines.map((line) => line.split(":")[0]))].sort(), [
      "cluster",
      ...planes,
      "w-1",
    ]);
    const kinds = preview.map(({ type }) => type.split(":").at(-1) ?? "");
    assert.deepEqual([...new Set(kinds)].sort(), ["NodeAgents", "NodeGroup", "NodeRollout", "ReaderAccount"]);
    assert.ok(extra < 15_000, `${extra} ms more than a preview of a cluster that answers`);
    await fixture.kubernetes.watchUntil<
      void,
      { status?: { conditions?: { type: string; status: string }[] } }
    >({
      apiVersion: "v1",
      kind: "Node",
      what: "every Node to be Ready again",
      seconds: 60,
      decide: (all) =>
        all.every(({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
        )
          ? { done: undefined }
          : { pending: "some are not" },
    });
    await expectUnchanged();
  });
});
