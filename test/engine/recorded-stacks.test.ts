import assert from "node:assert/strict";
import { readRecorded, recordedNames, StackOnServers } from "./recorded/recorded-stack";
import { RECORDED_SYSTEMS } from "./recorded/systems";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

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

      it("previews the record of the stack as its owner, and no other step", async () => {
        assert.deepEqual(await stepsOf(opened), recordOfOwner(system));
      });

      it("is not changed by a refresh", async () => {
        const { unchanged: count = 0, ...changes } = await opened.stack.refresh();
        assert.deepEqual(changes, {});
        assert.ok(count > 0, "the refresh read no resource");
        assert.deepEqual(await stepsOf(opened), recordOfOwner(system));
      });

      it("gets one more machine, and has nothing to do afterwards", async () => {
        const providers = await providersOf(opened);
        opened.scaleUp();
        const { unchanged: _same, ...changes } = await opened.stack.up();
        assert.notDeepEqual(changes, {});
        assert.deepEqual(await opened.stack.preview(), []);
        assert.deepEqual(await providersOf(opened), providers);
      });

      it("is destroyed", async () => {
        await opened.stack.destroy();
        assert.deepEqual((await opened.stack.export()).deployment.resources ?? [], []);
      });
    });
});

/** The changes of a preview, each with its steps. */
async function stepsOf({ stack }: StackOnServers): Promise<string[]> {
  const preview = await stack.preview();
  return preview
    .flatMap(({ op, type, inputs }) => {
      const { steps = [] } = inputs as { steps?: string[] };
      const resource = `${op} ${type.split(/[:/]/).pop()}`;
      return steps.length > 0 ? steps.map((step) => `${resource}: ${step}`) : [resource];
    })
    .sort();
}

/** Machines of the recorded kubeadm clusters, whose marks name no stack, as those of every release before identities. */
const MARKED: Readonly<Record<string, string>> = {
  ssh: "cp-1, cp-2, cp-3, w-1, w-2",
  openstack: "cp-1-rw4y6, cp-2-2tali, cp-3-taolj, w-1-5pcdx, w-2-auqqf, batch-1-wlf5p",
  tumblebug: "cp-1, w1-1, w1-2, w2-1",
};

/** What the first run with an identity does to a stack that an earlier release made. */
function recordOfOwner(system: string): string[] {
  const adoption = "update Adoption: record this stack as its owner, instead of foresail/test";
  if (system === "azimuth")
    return [
      "create DestroyGuard",
      "create StackIdentity",
      ...Array<string>(4).fill(adoption),
      // the icon of the monitoring's reservation
      "update Release",
      "update StatusStamp: write status.lastUpdated of Cluster az-demo/demo",
    ];
  if (system === "machine-pool") return ["create StackIdentity", ...Array<string>(3).fill(adoption)];
  const machines = MARKED[system];
  return [
    "create ClusterOwner",
    "create StackIdentity",
    `update ClusterInit: record this stack as the owner on ${machines}`,
    "update ReaderAccount: cluster: record organization/foresail/test as its owner",
    "update ReaderAccount: cluster: update the Role foresail-reader",
  ];
}

/** URNs of the providers in a stack's state, without the engine's own, by which a program reads states. */
async function providersOf({ stack }: StackOnServers): Promise<string[]> {
  const { resources = [] } = (await stack.export()).deployment;
  const isProvider = (type: string) => /^pulumi:providers:(?!pulumi$)/.test(type);
  return resources.flatMap(({ type, urn }) => (isProvider(type) ? [urn] : [])).sort();
}
