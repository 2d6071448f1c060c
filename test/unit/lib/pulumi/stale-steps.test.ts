import assert from "node:assert/strict";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { trustingThisRun } from "../../../../lib/pulumi/stale-steps";

interface Inputs {
  step?: string;
  steps?: string[];
}

/** A resource that changes when it has steps; check makes them. */
const stepping: Handlers = {
  check: (_olds: Inputs, { step }: Inputs) =>
    Promise.resolve({ inputs: { steps: step === undefined ? [] : [step] }, failures: [] }),
  diff: (_id, _olds: Inputs, { steps = [] }: Inputs) => Promise.resolve({ changes: steps.length > 0 }),
  create: () => Promise.resolve({ id: "1" }),
};

describe("a resource with steps", () => {
  const { resource } = trustingThisRun({ resource: () => ({ handlers: stepping }) });
  const differs = async (news: Inputs) => (await resource.diff!("1", {}, news)).changes;

  it("changes by the steps that this run's check made", async () => {
    const asked = (await resource.check!({}, { step: "w-1: join" })).inputs as Inputs;
    assert.equal(await differs(asked), true);
    const nothing = (await resource.check!({}, {})).inputs as Inputs;
    assert.equal(await differs(nothing), false);
  });

  it("is not changed by those of an earlier run, which a refresh passes", async () => {
    assert.equal(await differs({ steps: ["w-2: join"] }), false);
    await resource.check!({}, { step: "w-2: join" });
    assert.equal(await differs({ steps: ["w-2: join"] }), true);
  });

  it("loads its handlers once, when they are first needed", () => {
    let loaded = 0;
    const all = trustingThisRun({
      lazy: () => {
        loaded += 1;
        return { handlers: stepping };
      },
    });
    assert.equal(loaded, 0);
    assert.equal(all.lazy, all.lazy);
    assert.equal(loaded, 1);
  });
});
