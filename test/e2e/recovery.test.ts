import { FAILING_CHANGES } from "../cluster/recovery/changes";
import { assertWayBack } from "../cluster/recovery/change";
import { TestCluster } from "../cluster/test-cluster";
import { byNight } from "../left-out";

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const MACHINES = ["cp-1", "w-1", "w-2"];

describe("changes that were a mistake", function () {
  byNight("ssh.test.ts makes some of them");
  let cluster: TestCluster;
  let isAtStart = false;

  before(async () => {
    cluster = await TestCluster.open("recovery", { keep: KEEP });
  });

  after(async () => {
    const opened = cluster as TestCluster | undefined;
    if (!KEEP) await opened?.remove();
  });

  // also after a change that was not taken back as it should
  beforeEach(async () => {
    if (isAtStart) return;
    await cluster.configure({ machines: MACHINES });
    await cluster.up();
  });

  for (const change of FAILING_CHANGES)
    it(`${change.name}: fails soon, and is taken back by one \`up\``, async () => {
      const machines = { all: MACHINES, controlPlane: "cp-1", worker: "w-1", spare: "w-3" };
      isAtStart = false;
      const times = await assertWayBack(cluster, { machines: MACHINES }, machines, change);
      isAtStart = true;
      console.log(`      ${JSON.stringify(times)}`);
    });
});
