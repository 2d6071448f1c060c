import assert from "node:assert/strict";
import type { FaultControl } from "../../sandbox/openstack/front/fault-control";
import type { PassedRequest } from "../../sandbox/openstack/front/front";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { OpenstackTestCluster, type DesiredPool } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { upKilledWhen } from "../engine/killed-up";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { awaitGone } from "../support/openstack-cloud";
import { cloudPlanSteps } from "../../providers/openstack/plan/steps";
import { stepsOfKind } from "../support/steps";

const UNAVAILABLE = { kind: "status", status: 503 } as const;
const LOST = { kind: "lost-reply" } as const;

/** What the steps change of the pools. */
interface Changes {
  readonly flavor?: string;
}

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";

describe("a cluster on an unhealthy OpenStack cloud", function () {
  this.timeout(600_000);
  let cluster: OpenstackTestCluster;
  let faults: FaultControl;
  let empty: Record<string, string[]>;

  const pools = ({ flavor }: Changes = {}): DesiredPool[] => [
    { name: "cp", replicas: 1, ...(flavor ? { flavor } : {}) },
    { name: "w", replicas: 1 },
  ];

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1" && !KEEP)
      leaveOut(
        this,
        "openstack.test.ts makes a cluster on a healthy cloud; FORESAIL_TEST_ALL=1 includes faults",
      );
    cluster = await OpenstackTestCluster.create("e2e-trouble", { keep: KEEP });
    faults = await cluster.cloud.faults();
    await faults.clear();
    empty = await cluster.contents();
  });

  oneAfterTheOther(KEEP);

  afterEach(() => faults.clear());

  after(async () => {
    if (!KEEP) await cluster?.remove();
  });

  it("reports which object could not be created while Neutron fails, and keeps the others", async () => {
    await cluster.configure({ pools: pools() });
    await faults.add({ service: "neutron", effect: UNAVAILABLE, method: "POST", path: "/ports" });
    const words = await cluster.failingUp();
    assert.match(words, /openstack:networking:Port \(e2e-trouble-(cp|w)-1-[^]*unable to handle the request/);
    const { "/servers": servers, "/v2.0/ports": ports } = await cluster.contents();
    assert.deepEqual([servers, machines(ports)], [[], []]);
  });

  it("stops when Neutron's response about a new port is lost", async () => {
    await faults.next("neutron", LOST, { method: "POST", path: "/ports" });
    assert.match(await cluster.failingUp(), /openstack:networking:Port \(e2e-trouble-(cp|w)-1-/);
    assert.ok(machines((await cluster.contents())["/v2.0/ports"]).length > 0);
  });

  it("has that port only once in the next run, and reports which server Nova does not create", async () => {
    await faults.add({ service: "nova", effect: UNAVAILABLE, method: "POST", path: "/servers$" });
    const words = await cluster.failingUp();
    assert.match(words, /delete the port (cp|w)-1-\w{5}, which a run that was cut off made/);
    assert.match(words, /openstack:compute:Instance \(e2e-trouble-(cp|w)-1-[^]*unable to handle the request/);
    const { "/servers": servers, "/v2.0/ports": ports } = await cluster.contents();
    assert.deepEqual([servers, machines(ports)], [[], ["cp-1", "w-1"]]);
  });

  it("is killed while Nova creates a server that it has accepted", async () => {
    await faults.forgetRequests();
    let accepted = false;
    const looking = setInterval(() => {
      void faults
        .requests()
        .then((requests) => (accepted ||= requests.some((request) => isAcceptedServer(request))));
    }, 100);
    try {
      const look = () => (accepted ? { point: "a server is accepted" } : undefined);
      const { killed, output } = await upKilledWhen(cluster.stack, "the whole tree", look, 200);
      assert.ok(killed, output);
    } finally {
      clearInterval(looking);
    }
    assert.match((await cluster.stack.clearDeadLocks())[0] ?? "", /^cleared the lock/);
    assert.ok((await cluster.servers()).length > 0);
  });

  it("completes with the next `up`, waits while Nova accepts no metadata, and has no object twice", async () => {
    await faults.next("nova", UNAVAILABLE, { method: "POST", path: "/metadata", times: 3 });
    const words = await cluster.up();
    assert.match(words, /delete the server (cp|w)-1-\w{5}, which a run that was cut off made/);
    const [mark] = await faults.list();
    assert.equal(mark?.happened, 3);
    await assertWhole(["cp-1", "w-1"]);
  });

  it("reports why a server found no host and which quota is used up, and deletes the server when it is no longer desired", async () => {
    const huge = { name: "huge", replicas: 1, flavor: CLOUD_NAMES.impossibleFlavor, floatingIp: true };
    await cluster.configure({ pools: [...pools(), huge] });
    await cluster.cloud.setQuota({ network: { floatingip: 0 } });
    const before = await cluster.contents();
    assert.match(
      await cluster.failingUp(),
      /openstack\.pools[^]*quota for floating IPs exceeded: needs 1 more, limit 0, used 0; raise the quota/,
    );
    assert.deepEqual(await cluster.contents(), before);
    await cluster.cloud.setQuota({ network: { floatingip: 10 } });
    const words = await cluster.failingUp();
    assert.match(words, /openstack:compute:Instance \(e2e-trouble-huge-1-[^]*ERROR/);
    assert.match(
      words,
      /CloudPlan e2e-trouble: huge-1-\w{5} could not be made: No valid host was found\.[^\n]* What to do: no host of the cloud has room/,
    );
    assert.match(
      await cluster.failingUp(),
      /openstack\.pools\.huge[^]*the server huge-1-\w{5} is in state ERROR: No valid host was found/,
    );
    await cluster.configure({ pools: pools() });
    await cluster.up();
    await assertWhole(["cp-1", "w-1"]);
  });

  it("replaces a server that someone deleted with another machine", async () => {
    const before = (await cluster.servers()).find(({ name }) => name.startsWith("w-1-"));
    assert.ok(before);
    await cluster.api.call("nova", "DELETE", `/servers/${before.id}`);
    await awaitGone(cluster.api, before.id, 60);
    const refreshed = await cluster.stack.refresh();
    assert.equal(refreshed.exitCode, 0, refreshed.words);
    const { steps } = await cluster.stack.previewed();
    const turns = steps["e2e-trouble-cloud"] ?? [];
    const [made] = stepsOfKind(cloudPlanSteps, "make", turns);
    assert.deepEqual([turns.length, made], [1, { kind: "make", slot: "w-1", name: made?.name }]);
    assert.match(made?.name ?? "", /^w-1-\w{5}$/);
    assert.equal(steps["e2e-trouble-w"]?.[0], `${before.name}: lost, delete its Node`, JSON.stringify(steps));
    assert.match(await cluster.up(), new RegExp(`${before.name}: lost, delete its Node`));
    await assertWhole(["cp-1", "w-1"]);
    const after = (await cluster.servers()).find(({ name }) => name.startsWith("w-1-"));
    assert.notEqual(after?.id, before.id);
    assert.notEqual(after?.name, before.name);
  });

  it("replaces its only control plane in two runs: the new one joins, then the old one leaves", async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "by default the runs are tested on mocks (test/unit/providers/openstack); FORESAIL_TEST_ALL=1 includes a cloud",
      );
    const old = await cluster.machineOf("cp-1");
    await cluster.configure({ pools: pools({ flavor: CLOUD_NAMES.largerFlavor }) });
    await cluster.up();
    const left = (await cluster.remaining()) as string[];
    assert.match(left.join("\n"), new RegExp(`^then, in the next run: cp-1: ${old} is drained and deleted`));
    await assertWhole(["cp-1", "cp-1", "w-1"]);
    await cluster.up();
    await assertWhole(["cp-1", "w-1"]);
    assert.notEqual(await cluster.machineOf("cp-1"), old);
    assert.deepEqual(await cluster.remaining(), []);
  });

  it("is destroyed by a second attempt after Nova failed during the first", async () => {
    await faults.add({ service: "nova", effect: UNAVAILABLE, method: "DELETE", path: "/servers/" });
    const failed = await cluster.stack.destroy();
    assert.notEqual(failed.exitCode, 0);
    assert.match(failed.words, /openstack:compute:Instance \(e2e-trouble-[^]*unable to handle the request/);
    await faults.clear();
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
  });

  /** Asserts that every slot has its machine with one port, initialized and Ready, and that nothing is left to do. */
  async function assertWhole(slots: readonly string[]): Promise<void> {
    const servers = await cluster.servers();
    assert.deepEqual(
      servers.map(({ name, metadata }) => [slotOf(name), metadata["foresail-initialized"]]),
      slots.map((slot) => [slot, "true"]),
    );
    assert.deepEqual(
      await readyNodes(cluster),
      servers.map(({ name }) => name),
    );
    const contents = await cluster.contents();
    assert.deepEqual(machines(contents["/v2.0/ports"]), slots);
    const counts = Object.entries(contents).map(([kind, list]) => [kind, list.length]);
    assert.deepEqual(Object.fromEntries(counts), {
      "/servers": slots.length,
      "/os-keypairs": 1,
      "/os-server-groups": 2,
      "/v2.0/networks": 2,
      "/v2.0/subnets": 2,
      "/v2.0/routers": 1,
      "/v2.0/ports": contents["/v2.0/ports"]?.length,
      "/v2.0/floatingips": 0,
      "/v2.0/security-groups": 3,
      "/v2/images": 1,
      containers: slots.length,
      volumes: contents["volumes"]?.length,
      containerNetworks: 2,
    });
  }
});

const isAcceptedServer = ({ service, method, path, status }: PassedRequest): boolean =>
  service === "nova" && method === "POST" && /\/servers$/.test(path) && status < 300;

const slotOf = (machine: string): string => machine.replace(/-[0-9a-z]{5}$/, "");

/** The slots of the machines whose ports are in a list: the others are the router's and the cloud's own. */
function machines(ports: readonly string[] = []): string[] {
  return ports.filter((name) => /^(cp|w|huge)-\d+-[0-9a-z]{5}$/.test(name)).map(slotOf);
}
