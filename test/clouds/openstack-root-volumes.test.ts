import assert from "node:assert/strict";
import { waitFor } from "../../lib/wait";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { departures, outlivedServers, recordHistory } from "../cluster/cluster-history";
import { OpenstackTestCluster, type DesiredOpenstack } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { upKilledWhen } from "../engine/killed-up";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const NAME = "e2e-volumes";
const FAULT = "the array is out of room";
const UP_SECONDS = 200;
const ENOUGH = { volumes: 100, gigabytes: 1_000, per_volume_gigabytes: -1 };

/** What the steps change of the workers. */
interface Changes {
  readonly size?: number;
  readonly type?: string;
  readonly replicas?: number;
  readonly replace?: number;
}

describe("machines that boot from volumes of an OpenStack cloud", function () {
  this.timeout(600_000);
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;

  const desired = ({
    size = 20,
    type = CLOUD_NAMES.volumeType,
    replicas = 1,
    replace = 1,
  }: Changes = {}): DesiredOpenstack => ({
    pools: [
      { name: "cp", replicas: 1 },
      { name: "w", replicas, rootVolume: { sizeGiB: size, type } },
    ],
    replace: { "w-1": replace },
  });

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "by default root volumes are tested on mocks (test/unit/providers/openstack); FORESAIL_TEST_ALL=1 includes a cloud",
      );
    cluster = await OpenstackTestCluster.create(NAME, { cinder: true });
    empty = await cluster.contents();
  });

  oneAfterTheOther();

  after(() => cluster?.remove());

  it("refuse a volume type that the cloud does not have and more than the quota, and create nothing", async () => {
    await cluster.cloud.setQuota({ volume: { volumes: 0, gigabytes: 15, per_volume_gigabytes: 12 } });
    await cluster.configure(desired({ type: "floppy" }));
    const words = await cluster.failingUp();
    assert.match(
      words,
      /openstack\.pools\.w\.rootVolume\.type[^]*the cloud has no volume type "floppy"; it has /,
    );
    assert.match(
      words,
      /openstack\.pools\.w\.rootVolume\.sizeGiB[^]*20 GiB is more than the quota allows one volume: 12 GiB/,
    );
    assert.match(words, /quota for volumes exceeded: needs 1 more, limit 0, used 0/);
    assert.match(
      words,
      /quota for the size of volumes exceeded: needs 20 GiB more, limit 15 GiB, used 0 GiB/,
    );
    assert.deepEqual(await cluster.contents(), empty);
    await cluster.cloud.setQuota({ volume: ENOUGH });
  });

  it("are not created while Cinder fails: the run reports why, no volume remains, and the next preview says what to do", async () => {
    await cluster.cloud.failVolumes(FAULT);
    await cluster.configure(desired());
    assert.match(
      await cluster.failingUp(),
      /CloudPlan e2e-volumes: w-1-\w{5} could not be made: [^\n]*Volume \S+ did not finish being created[^\n]* What to do: take another `rootVolume`/,
    );
    assert.deepEqual(await cluster.volumes(), []);
    await cluster.cloud.failVolumes();
    assert.match(
      await cluster.failingUp(),
      /openstack\.pools\.w[^]*the server w-1-\w{5} is in state ERROR: [^]*or have another one made with the next number in `replace: \{w-1: /,
    );
  });

  it("continue with another volume, have the desired size and type, and the next preview is empty", async () => {
    await cluster.configure(desired({ replace: 2 }));
    await cluster.up();
    await assertWhole(1, 20);
    assert.deepEqual((await cluster.stack.previewed()).changes, []);
  });

  it("are refused with the number that replaces a machine whose volume was deleted in the cloud", async () => {
    const name = await cluster.machineOf("w-1");
    const [{ id } = { id: "" }] = await cluster.volumes();
    const administrator = await cluster.cloud.api("administrator");
    // an attached volume can't be deleted by its project
    for (const action of [
      { "os-reset_status": { status: "available", attach_status: "detached" } },
      { "os-force_delete": {} },
    ])
      await administrator.call("cinder", "POST", `/volumes/${id}/action`, action);
    await waitFor({
      what: `the end of volume ${id}`,
      seconds: UP_SECONDS,
      probe: async () =>
        (await cluster.volumes()).length === 0 ? { done: true } : { pending: "it is there" },
    });
    assert.match(
      await cluster.failingUp(),
      new RegExp(`the root volume of ${name} is gone: have another machine made with the next number`),
    );
    await cluster.configure(desired({ replace: 3 }));
    await cluster.up();
    await assertWhole(1, 20);
    assert.deepEqual((await cluster.stack.previewed()).changes, []);
  });

  it("are complete after a run that was killed while a server and its volume were created", async () => {
    await cluster.configure(desired({ replace: 3, replicas: 2 }));
    let made = false;
    const looking = setInterval(
      () => void cluster.volumes().then(({ length }) => (made ||= length > 1)),
      200,
    );
    try {
      const look = () => (made ? { point: "a second volume" } : undefined);
      const { killed, output } = await upKilledWhen(cluster.stack, "the whole tree", look, UP_SECONDS);
      assert.ok(killed, output);
    } finally {
      clearInterval(looking);
    }
    assert.match((await cluster.stack.clearDeadLocks())[0] ?? "", /^cleared the lock/);
    assert.match(await cluster.up(), /delete the server w-2-\w{5}, which a run that was cut off made/);
    await assertWhole(2, 20);
  });

  it("refuse a rollout to a volume that exceeds the quota, and remain unchanged", async () => {
    const before = await cluster.contents();
    await cluster.cloud.setQuota({ volume: { gigabytes: 60 } });
    await cluster.configure(desired({ replace: 3, replicas: 2, size: 30 }));
    assert.match(
      await cluster.failingUp(),
      /openstack\.pools[^]*quota for the size of volumes exceeded: needs 30 GiB more, limit 60 GiB, used 40 GiB; raise the quota, or take a smaller `rootVolume\.sizeGiB`/,
    );
    assert.deepEqual(await cluster.contents(), before);
    await cluster.cloud.setQuota({ volume: ENOUGH });
  });

  it("are rolled to a larger volume as previewed: the new machine joins before the old one and its volume are deleted", async () => {
    for (const slot of ["w-1", "w-2"]) {
      const old = await cluster.machineOf(slot);
      const [turn = ""] = await cluster.plannedTurns();
      assert.match(
        turn,
        new RegExp(
          `^${slot}: ${slot}-\\w{5} is made and joins, then ${old} is drained and deleted \\(root volume 20 GiB foresail.ssd → 30 GiB foresail.ssd`,
        ),
      );
      const history = await recordHistory(cluster, cluster.up());
      assert.deepEqual(departures(history.map(({ nodes }) => nodes)), [old]);
      assert.deepEqual(outlivedServers(history), []);
      for (const { serving } of history)
        assert.ok(serving.filter((name) => name.startsWith("w-")).length >= 2, serving.join(", "));
    }
    assert.deepEqual(await cluster.remaining(), []);
    await assertWhole(2, 30);
  });

  it("leave nothing in nova, neutron and cinder when they are destroyed", async () => {
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
  });

  /** Asserts that this many workers are Ready, each with its own volume, and that the cloud has no other volume. */
  async function assertWhole(workers: number, size: number): Promise<void> {
    const servers = (await cluster.servers()).filter(({ name }) => name.startsWith("w-"));
    assert.equal(servers.length, workers);
    assert.equal((await readyNodes(cluster)).length, workers + 1);
    const volumes = await cluster.volumes();
    assert.deepEqual(
      volumes.map(({ attachments: [attachment] }) => attachment?.server_id).sort(),
      servers.map(({ id }) => id).sort(),
    );
    for (const volume of volumes)
      assert.deepEqual(
        [volume.size, volume.volume_type, volume.status],
        [size, CLOUD_NAMES.volumeType, "in-use"],
      );
    for (const { image } of servers) assert.equal(image, "", "it has booted from its volume");
  }
});
