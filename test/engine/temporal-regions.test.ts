import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { SimulatedRegion } from "../simulation/simulated-region";
import {
  addressOf,
  clearNamespaces,
  HUB_ADDRESS,
  makeNamespaces,
  type Spoke,
  tryConnection,
  whyNoNamespaces,
  within,
} from "../support/network-namespaces";
import { TemporalServer, until } from "../support/temporal-server";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { FleetWorker } from "./fleet-worker";
import { apiPrograms, engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const REGIONS: readonly Spoke[] = ["eu1", "us1"];
const MACHINES = ["cp-1", "w-1"];
const FIRST_PORTS: Record<Spoke, number> = { eu1: 22_100, us1: 22_200 };
const PORT = 7233;

describe("a fleet of regions that only their own workers reach", function () {
  this.timeout(SET_UP_MILLISECONDS);
  oneAfterTheOther();
  const regions = {} as Record<Spoke, SimulatedRegion>;
  const stacks = {} as Record<Spoke, TestStack>;
  let folder: string;
  let server: TemporalServer;
  let fleet: FleetCommand;
  let eu1: FleetWorker;
  let command: ReturnType<FleetCommand["start"]> | undefined;

  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "the server takes minutes to build: FORESAIL_TEST_ALL=1");
    const why = await whyNoNamespaces();
    if (why !== undefined) leaveOut(this, why);
    await makeNamespaces();
    const toolchain = await engineToolchain();
    folder = makeCompiledClone();
    const at = (name: string) => path.join(folder, name);
    const temporal = { address: `${HUB_ADDRESS}:${PORT}`, tls: false };
    const waves = [
      { name: "canary", stacks: ["prod-eu1"], gate: { nodesReady: true, nodesReadySeconds: 60 } },
      { name: "rest", stacks: ["*"] },
    ];
    writeFileSync(at("fleet.yaml"), stringify({ maxParallel: 2, runner: { temporal }, waves }));
    server = await TemporalServer.open({
      ...{ address: temporal.address, listen: "0.0.0.0" },
      ...{ database: at("temporal.db"), within: within("hub") },
    });
    await server.start();
    for (const name of REGIONS) {
      regions[name] = await SimulatedRegion.start(within(name), {
        ...{ programs: apiPrograms(toolchain), machines: MACHINES, firstPort: FIRST_PORTS[name] },
      });
      stacks[name] = await new TestStack(
        { folder, project: "foresail", stack: `prod-${name}` },
        toolchain,
      ).create();
      await stacks[name].setSecret("sshPrivateKey", regions[name].privateKey);
      want(name, "cp-1");
    }
    fleet = new FleetCommand(stacks.eu1, {}, within("hub"));
  });
  after(async () => {
    command?.child.kill("SIGKILL");
    for (const region of Object.values(regions)) await region.stop();
    await server?.kill();
    if (folder) removeFolder(folder);
    if (ALL_TESTS) await clearNamespaces();
  });

  const run = (...args: string[]) => fleet.run("fleet", ...args);
  const want = (name: Spoke, ...machines: string[]) =>
    stacks[name].configure({
      ...{ labels: { region: name }, cluster: desiredCluster(regions[name], machines, { name }) },
    });
  /** Starts a worker in the namespace of its region, on a machine of a name of its own. */
  const startWorker = (region: Spoke, host: string) => {
    const named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host];
    return FleetWorker.start(new FleetCommand(stacks[region], {}, [...within(region), ...named]), region);
  };
  const joined = (name: Spoke) =>
    regions[name].journal
      .filter(({ operation, outcome }) => /^(init|join-)/.test(operation) && outcome === "done")
      .map(({ operation, machine }) => `${operation} ${machine}`);

  it("has machines that nothing outside their region reaches", async () => {
    for (const [region, other] of [REGIONS, [...REGIONS].reverse()] as [Spoke, Spoke][]) {
      const { address, port } = regions[region].machine("cp-1");
      assert.equal(await tryConnection(region, address, port), "connected");
      assert.equal(await tryConnection(region, HUB_ADDRESS, PORT), "connected");
      assert.equal(await tryConnection(other, address, port), "ECONNREFUSED");
      assert.equal(await tryConnection(other, addressOf(region), port), "ENETUNREACH");
      assert.equal(await tryConnection("hub", address, port), "ECONNREFUSED");
    }
  });

  it("is not previewed where a worker has a wrong passphrase, and says in which stack", async () => {
    eu1 = await startWorker("eu1", "eu1-a");
    const wrong = new FleetCommand(stacks.us1, { PULUMI_CONFIG_PASSPHRASE: "wrong" }, within("us1"));
    const worker = await FleetWorker.start(wrong, "us1");
    const { exitCode, stdout } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /^prod-us1:\n(?: .*\n)*? .*the passphrase is wrong/m);
    assert.match(stdout, /^canary +prod-eu1 +5 steps in 10 resources.*\nrest +prod-us1 +failed$/m);
    assert.equal(await worker.stop(), EXIT.done);
    assert.deepEqual(REGIONS.flatMap(joined), []);
  });

  it("is previewed by a worker in each region, from where no machine can be reached", async () => {
    await startWorker("us1", "us1-a");
    const { exitCode, stdout, stderr } = await run("preview", "--save-plan", "plans");
    assert.equal(exitCode, EXIT.done, stdout + stderr);
    for (const name of REGIONS) assert.match(stdout, new RegExp(`prod-${name} +5 steps in 10 resources`));
    assert.deepEqual(REGIONS.flatMap(joined), []);
  });

  it("comes up in its waves, each cluster by the worker beside it, up to a gate that asks its nodes", async () => {
    const { exitCode, stdout, stderr } = await run("up", "--plan", "plans");
    assert.equal(exitCode, EXIT.done, stdout + stderr);
    assert.match(stdout, /^prod-eu1: begins in eu1$/m);
    assert.match(stdout, /^gate of canary: passed$/m);
    assert.match(stdout, /^canary +prod-eu1 +done\nrest +prod-us1 +done$/m);
    for (const name of REGIONS) assert.deepEqual(joined(name), ["init cp-1"]);
    const again = await run("preview");
    assert.match(again.stdout, /^canary +prod-eu1 +nothing changes\nrest +prod-us1 +nothing changes$/m);
  });

  it("names the lock that a dead machine's worker left, and goes on with a new machine once it is cleared", async () => {
    want("eu1", "cp-1", "w-1");
    regions.eu1.inject({ operation: "join-worker", machine: "w-1", kind: "hang", milliseconds: 3_000 });
    command = fleet.start("fleet", "up", "--yes");
    const { printed, ended } = command;
    const lines = () => regions.eu1.files.journalLines;
    await until("w-1 joins", () =>
      lines().some(({ operation, event }) => operation === "join-worker" && event === "start"),
    );
    await eu1.killMachine();
    eu1 = await startWorker("eu1", "eu1-b");
    const waits = /^prod-eu1: waits for a lock, 15 minutes at most$[^]*held by process \d+ .* on host eu1-a/m;
    await until("the run says who has the lock", () => waits.test(printed()));
    assert.match(printed(), /foresail unlock --stack prod-eu1/);
    assert.match((await run("status")).stdout, waits);
    const unlock = ["unlock", "--stack", "prod-eu1", "--yes"];
    assert.equal((await fleet.run(...unlock)).exitCode, EXIT.done);
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, EXIT.done, stdout + stderr);
    assert.deepEqual(joined("eu1"), ["init cp-1", "join-worker w-1"]);
  });
});
