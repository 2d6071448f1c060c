import assert from "node:assert/strict";
import { readRecorded, recordedNames, StackOnServers } from "./recorded/recorded-stack";
import { RECORDED_SYSTEMS } from "./recorded/systems";
import type { PreviewStep } from "./test-stack";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

/**
 * Returns what a preview lists on a recorded stack, which is what later releases bring to existing clusters: node agents
 * 1.2.0, and the policy for their annotations.
 */
function broughtTo(previewed: readonly PreviewStep[]): [type: string, op: string, steps: unknown][] {
  const agents = previewed.find(({ type }) => type.endsWith(":NodeAgents"));
  if (agents === undefined) return [];
  const machines = (agents.inputs["machines"] as { name: string }[]).map(({ name }) => name);
  const policy =
    "cluster: install the ValidatingAdmissionPolicy foresail-node-annotations, for the annotations alpha.[software].caos.ch";
  return [
    ["AnnotationPolicy", "create", [policy]],
    ["NodeAgents", "update", machines.map((name) => `${name}: install node agent 1.2.0`)],
  ];
}

/** The systems whose machines foresail prepares itself. */
const WITH_AGENTS = ["ssh", "openstack", "tumblebug"];

/** A folder of one machine or one account. */
const FOLDER_OF_A_MACHINE = /\/(home|root|tmp|work|Users)\//;

describe("stacks that earlier code recorded", () => {
  it("has one of each system", () => {
    const systems = new Set(recordedNames().map((name) => name.slice(0, name.lastIndexOf("-"))));
    assert.deepEqual([...systems].sort(), Object.keys(RECORDED_SYSTEMS).sort());
  });

  for (const name of recordedNames())
    describe(name, function () {
      this.timeout(SET_UP_MILLISECONDS);
      const recorded = readRecorded(name);
      const system = name.slice(0, name.lastIndexOf("-"));
      let opened: StackOnServers;

      before(async () => {
        const { start, programs } = RECORDED_SYSTEMS[system]!;
        opened = await StackOnServers.open(start, await engineToolchain(programs), recorded);
      });

      after(() => opened?.close());

      it("contains no path of the machine on which it was recorded", () => {
        assert.doesNotMatch(JSON.stringify(recorded), FOLDER_OF_A_MACHINE);
      });

      const listed = (previewed: readonly PreviewStep[]) =>
        previewed
          .map(({ type, op, inputs }) => [type.split(":").at(-1) ?? "", op, inputs["steps"]])
          .sort(([one], [other]) => String(one).localeCompare(String(other)));

      it("previews no step but what later releases bring", async () => {
        const previewed = await opened.stack.preview();
        assert.equal(previewed.length > 0, WITH_AGENTS.includes(system));
        assert.deepEqual(listed(previewed), broughtTo(previewed));
      });

      it("is not changed by a refresh", async () => {
        const { unchanged: count = 0, ...changes } = await opened.stack.refresh();
        assert.deepEqual(changes, {});
        assert.ok(count > 0, "the refresh read no resource");
        const previewed = await opened.stack.preview();
        assert.deepEqual(listed(previewed), broughtTo(previewed));
      });

      it("gets one more machine, and has nothing to do afterwards", async () => {
        opened.scaleUp();
        const steps = await opened.stack.preview();
        assert.ok(steps.length > broughtTo(steps).length);
        await opened.stack.up();
        assert.deepEqual(await opened.stack.preview(), []);
      });

      it("is destroyed", async () => {
        await opened.stack.destroy();
        assert.deepEqual((await opened.stack.export()).deployment.resources ?? [], []);
      });
    });
});
