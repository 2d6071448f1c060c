import assert from "node:assert/strict";
import { NEW, RolloutFixture } from "./rollout-fixture";

const SOFTWARE = { software: { containerd: "9.9.9" } };

describe("a rollout of a version of containerd", function () {
  this.timeout(60_000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  beforeEach(() => fixture.reset(["cp-1", "w-1"], NEW));

  const preview = async (offer: string) => {
    fixture.offer = offer;
    const { refusals, inputs } = await fixture.check(fixture.desired(NEW), fixture.desired(NEW, SOFTWARE));
    assert.match((inputs.steps as string[]).join("\n"), /w-1 1\.36\.3, containerd \S+ → 9\.9\.9/);
    return refusals;
  };

  it("is refused in the preview if no repository has it", async () => {
    assert.deepEqual(await preview("missing containerd 1.7.24~ds1-1 1.6.20\n"), [
      {
        property: "cluster.rollout.software.containerd",
        reason:
          "no apt repository of cp-1, w-1 has containerd 9.9.9; they have 1.7.24~ds1-1, 1.6.20. Write one of these, or add a repository that has it",
      },
    ]);
  });

  it("is not refused if the machines can't say, or have it", async () => {
    for (const offer of ["offered\n", "unread apt-get update: no route\n", "something else\n"])
      assert.deepEqual(await preview(offer), []);
  });
});
