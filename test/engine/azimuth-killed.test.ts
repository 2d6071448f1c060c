/** A first run through Azimuth is killed, and people destroy what is there. azimuth-kill-matrix goes on with the same run. */
import assert from "node:assert/strict";
import { API } from "../../providers/azimuth/plan/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthFixture, configure, untilTrue } from "./azimuth-fixture";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";
/** Resources of a first run, in their order. */
const STEPS = [
  ...["demo-template", "demo-record", "demo-started", "demo-etcd-key", "demo-realm", "demo-oidc-client"],
  ...["demo-platform", "demo-services", "demo-lease", "demo-zenith-key", "demo-chart", "demo-finished"],
].filter((step) => BY_NIGHT || step === "demo-zenith-key");

const KINDS = [
  ...[`${API.azimuth} Cluster`, `${API.clusterApi} Cluster`, `${API.identity} OIDCClient`],
  ...[`${API.identity} Platform`, `${API.scheduling} Lease`, "v1 Secret", "v1 ConfigMap"],
];

describe("a cluster through Azimuth whose first run is killed, and then destroyed", function () {
  this.timeout(300_000);
  const fixture = azimuthFixture();

  /** The names of all objects that a run makes in the tenancy, by kind. */
  async function objects(): Promise<string[]> {
    const lists = KINDS.map(async (kind) => {
      const [apiVersion = "", name = ""] = kind.split(" ");
      const found = await fixture.management.list({
        ...{ apiVersion, kind: name, namespace: TENANCY.namespace },
      });
      return found.map(({ metadata }) => `${name} ${metadata?.name}`);
    });
    return (await Promise.all(lists)).flat().sort();
  }

  for (const step of STEPS)
    it(`leaves nothing in its tenancy, killed at ${step}`, async () => {
      const before = await objects();
      configure(fixture);
      const up = await upKilledWhen(fixture.stack, "the whole tree", (output) =>
        output().includes(`${step} creating`) ? { step } : undefined,
      );
      assert.ok(up.killed, up.output);
      await untilOrphansEnd(up.orphans);
      await fixture.stack.clearDeadLocks();
      await fixture.stack.destroy();
      let left: string[] = [];
      await untilTrue("what has an owner to go with it", async () => {
        left = (await objects()).filter((name) => !before.includes(name));
        return left.length === 0;
      }).catch(() => assert.deepEqual(left, []));
    });
});
