import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import { chooseContext } from "../../cli/forecast/kubeconfig";
import { KubernetesClient, type KubernetesObject, type NewObject } from "../../lib/kubernetes";
import { installDefinitions } from "../../sandbox/management/definitions";
import type { Toolchain } from "../../sandbox/toolchain";
import { projectFolder } from "../../sandbox/paths";
import { BareApiServer } from "../simulation/bare-api-server";
import { obeyAnnotations } from "../simulation/simulated-agents";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { newKey } from "../support/ssh-server";
import { schemaNamed } from "../unit/cli/fleet/export/fleets";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { awaitPower } from "./node-power";
import { createSharedOutputs } from "./shared-outputs";
import { apiPrograms, engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

const EXAMPLE = path.join(projectFolder, "examples", "regions", "ssh");
const REGIONS = ["eu1", "us1"];
const MACHINES = ["cp-1", "w-1"];
const [OLD, NEW] = ["1.35.4", "1.36.3"] as const;

describe("the example of regions on existing machines, as files on simulated ones", function () {
  this.timeout(SET_UP_MILLISECONDS);
  const userKey = newKey();
  const apis: BareApiServer[] = [];
  const fleets: SimulatedFleet[] = [];
  const clients: KubernetesClient[] = [];
  const stacks: Record<string, TestStack> = {};
  const stop = new AbortController();
  const agents: Promise<void>[] = [];
  let toolchain: Toolchain;
  let folder: string;

  before(async () => {
    toolchain = await engineToolchain();
    folder = makeCompiledClone();
    const config = path.join(folder, "stacks", "config");
    cpSync(EXAMPLE, config, { recursive: true });
    const fleet = parse(readFileSync(path.join(EXAMPLE, "fleet.yaml"), "utf8")) as { waves: object[] };
    // without the times that production has
    fleet.waves[0] = {
      ...fleet.waves[0],
      gate: { nodesReady: true, nodesReadySeconds: 60, approval: true },
    };
    writeVersion(NEW, OLD);
    writeFileSync(path.join(folder, "fleet.yaml"), stringify(fleet));
    await Promise.all(REGIONS.map(startRegion));
    for (const name of [...REGIONS, "all"])
      stacks[name] = await new TestStack(
        { folder, project: "foresail", stack: `prod-${name}` },
        toolchain,
      ).create();
    REGIONS.forEach((name, index) => {
      const { source, timeouts, machines } = desiredCluster(fleets[index]!, MACHINES);
      // the layer's network plugin is a chart, which no simulated machine can have
      const network = { plugin: { cilium: null, bridge: {} } };
      stacks[name]!.configure({ cluster: { name, source, timeouts, machines, network } });
    });
  });
  after(async () => {
    stop.abort();
    await Promise.all(agents);
    for (const client of clients) client.close();
    for (const fleet of fleets) await fleet.stop();
    for (const api of apis) await api.stop();
    removeFolder(folder);
  });

  /** Starts an API server with two machines at the old version, of which only the region's stack knows. */
  async function startRegion(_: string, index: number): Promise<void> {
    const controllers = ["token-cleaner-controller"];
    const api = (apis[index] = await new BareApiServer({
      programs: apiPrograms(toolchain),
      controllers,
    }).start());
    fleets[index] = await SimulatedFleet.start({ api, machines: MACHINES, userKey, version: `v${OLD}` });
    const client = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    clients[index] = client;
    const data = { ClusterConfiguration: `kubernetesVersion: v${OLD}\n` };
    const metadata = { namespace: "kube-system", name: "kubeadm-config" };
    await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    agents[index] = obeyAnnotations(client, [], { milliseconds: 300, signal: stop.signal });
  }

  /** Changes the version that all regions have. */
  function writeVersion(from: string, to: string): void {
    const layer = path.join(folder, "stacks", "config", "layers", "prod.yaml");
    const text = readFileSync(layer, "utf8");
    assert.ok(text.includes(from));
    writeFileSync(layer, text.replace(from, to));
  }

  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "ignore" });
  const foresail = (...args: string[]) => new FleetCommand(stacks["all"]!).run("fleet", ...args);
  const versionsOf = async (index: number) =>
    (await clients[index]!.listNodes()).map(({ status }) => status?.nodeInfo?.kubeletVersion);

  /** Creates the stacks that the regions refer to. */
  async function createBase(): Promise<void> {
    const place = { folder, stateFolder: stacks["all"]!.stateFolder };
    for (const stack of REGIONS)
      await createSharedOutputs(place, toolchain, {
        ...{ project: "base", stack, plain: { zone: `${stack}.example.com` } },
        secret: { sshPrivateKey: userKey.private },
      });
  }

  const clusterId = async (kubeconfig: string): Promise<string | undefined> => {
    const client = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    try {
      return (await client.get({ apiVersion: "v1", kind: "Namespace", name: "kube-system" }))?.metadata?.uid;
    } finally {
      client.close();
    }
  };

  it("is not previewed before the stacks exist to which it refers", async () => {
    const { exitCode, stdout } = await stacks["eu1"]!.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout, /shared\.base: there is no stack organization\/base\/eu1; create it first/);
  });

  it("comes up in its waves, the collector too, which was previewed before the regions had a kubeconfig", async () => {
    await createBase();
    const { exitCode, stdout } = await foresail("up", "--yes", "--approve", "canary");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /^canary +prod-eu1 +done\nrest +prod-us1 +done\nkubeconfig +prod-all +done$/m);
    const { contexts, missing } = await stacks["all"]!.outputs();
    assert.deepEqual([contexts, missing], [["prod-eu1", "prod-us1"], []]);
  });

  it("has one kubeconfig with a working context for each region", async () => {
    const { kubeconfig } = (await stacks["all"]!.outputs()) as { kubeconfig: string };
    const file = path.join(folder, "kubeconfig");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    for (const [index, name] of REGIONS.entries()) {
      const found = await clusterId(chooseContext(file, `prod-${name}`).kubeconfig);
      assert.ok(found);
      assert.equal(found, await clusterId(apis[index]!.kubeconfig()));
    }
  });

  it("has values of the shared stacks, and previews nothing more", async () => {
    for (const stack of Object.values(stacks)) assert.deepEqual(await stack.preview(), []);
    const collected = JSON.stringify(await stacks["all"]!.export());
    assert.ok(!collected.includes("pulumi:providers:pulumi-nodejs"), "the collector has no dynamic resource");
    const state = JSON.stringify(await stacks["us1"]!.export());
    assert.match(state, /https:\/\/mirror\.us1\.example\.com/);
    assert.ok(!state.includes("StackReference"));
    const key = userKey.private.split("\n")[1]!;
    for (const { printed } of Object.values(stacks)) assert.ok(!printed.includes(key));
    assert.ok(!state.includes(key));
  });

  it("is upgraded by one line of the layer: one comment and one page show every node of both regions", async () => {
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "fleet.yaml", "stacks");
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "Regions");
    writeVersion(OLD, NEW);
    assert.equal((await foresail("changed", "--since", "main")).stdout, "prod-eu1\nprod-us1\n");
    const { exitCode, stdout } = await foresail("preview", "--save-plan", "plans");
    assert.equal(exitCode, EXIT.done, stdout);
    const { stdout: comment } = await foresail("report", "plans", "--markdown");
    for (const region of REGIONS)
      assert.match(comment, new RegExp(`\\| \`prod-${region}\` .*\`${OLD} → ${NEW}\`.*\`[0-9a-f]{64}\``));
    for (const machine of MACHINES) {
      const steps = comment.split("\n").filter((line) => line.startsWith(`${machine} ${OLD} → ${NEW} (`));
      assert.equal(steps.length, REGIONS.length, comment);
    }
    assert.equal((await foresail("report", "plans", "--html", "page.html")).exitCode, EXIT.done);
    for (const index of REGIONS.keys()) assert.deepEqual(await versionsOf(index), [`v${OLD}`, `v${OLD}`]);
  });

  it("upgrades the canary, waits for a person, and stops at a region whose machine is off", async () => {
    const waiting = await foresail("up", "--plan", "plans");
    assert.equal(waiting.exitCode, EXIT.paused, waiting.stdout);
    assert.deepEqual(await versionsOf(0), [`v${NEW}`, `v${NEW}`]);
    assert.deepEqual(await versionsOf(1), [`v${OLD}`, `v${OLD}`]);
    fleets[1]!.powerOff("cp-1");
    await awaitPower(clients[1]!, "cp-1", false);
    const { exitCode, stdout } = await foresail("up", "--continue", "--approve", "canary");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /^rest +prod-us1 +failed\nkubeconfig +prod-all +not begun$/m);
    assert.ok(!stdout.includes("prod-eu1: begins"), stdout);
  });

  it("is finished by --continue once the machine is on, with the same plans, and then nothing is left to do", async () => {
    fleets[1]!.powerOn("cp-1");
    await awaitPower(clients[1]!, "cp-1", true);
    const { exitCode, stdout } = await foresail("up", "--continue");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /1 of 3 stacks done/);
    assert.deepEqual(await versionsOf(1), [`v${NEW}`, `v${NEW}`]);
    for (const region of REGIONS) assert.deepEqual(await stacks[region]!.preview(), []);
  });

  it("shows in a preview which region leaves the kubeconfig", async () => {
    stacks["all"]!.configure({ collector: { stacks: ["prod-eu1", "prod-none"] } });
    const { exitCode, stdout } = await new FleetCommand(stacks["all"]!).run("preview", "--stack", "prod-all");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /^create CollectedStack prod-none$/m);
    assert.match(stdout, /^delete CollectedStack prod-us1$/m);
    assert.match(stdout, /^ +Collector prod-all: the context prod-us1 is removed$/m);
    assert.match(
      stdout,
      /^ +Collector prod-all: organization\/foresail\/prod-none has no context: there is no such stack$/m,
    );
  });

  it("is exported as Stack objects, which an API server accepts with the operator's own definition", async () => {
    const options = ["--repository", "https://git.example.com/ops/foresail.git", "--commit", "a".repeat(40)];
    const command = ["export", "operator", "--image", "pulumi/pulumi:3.230.0-nonroot", ...options];
    const refused = await foresail(...command);
    assert.equal(refused.exitCode, EXIT.failed);
    assert.match(
      refused.stderr,
      /fleet\.yaml has 1 validation issue[^]*waves\[0\]\.gate: the operator checks no gate/,
    );

    const file = path.join(folder, "operator.yaml");
    const { waves } = parse(readFileSync(path.join(folder, "fleet.yaml"), "utf8")) as { waves: object[] };
    writeFileSync(file, stringify({ waves: waves.map((wave) => ({ ...wave, gate: undefined })) }));
    const { exitCode, stdout } = await foresail(...command, "--file", file);
    assert.equal(exitCode, EXIT.done, stdout);
    const client = await KubernetesClient.connect({ kubeconfig: apis[0]!.kubeconfig() }, { seconds: 10 });
    try {
      await installDefinitions(client, [schemaNamed("operator-stack.json") as NewObject]);
      const prerequisites: Record<string, unknown> = {};
      for (const document of parseAllDocuments(stdout)) {
        const object = document.toJS() as NewObject & KubernetesObject & { spec: Record<string, unknown> };
        // server-side apply refuses fields that the definition does not have
        const { spec } = await client.apply<typeof object>(object);
        prerequisites[object.metadata.name] = spec.prerequisites;
        assert.deepEqual(spec.commit, "a".repeat(40));
      }
      assert.deepEqual(prerequisites, {
        "prod-eu1": [],
        "prod-us1": [{ name: "prod-eu1" }],
        "prod-all": [{ name: "prod-us1" }],
      });
      await assert.rejects(client.apply(strayStack()), /nonsense/);
    } finally {
      client.close();
    }
  });

  it("is destroyed, the collector first", async () => {
    const { exitCode, stdout } = await foresail("destroy", "--confirm", "foresail");
    assert.equal(exitCode, EXIT.done, stdout);
    for (const stack of Object.values(stacks))
      assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
  });
});

/** A Stack object with a field that the operator does not know. */
function strayStack(): NewObject {
  const [apiVersion, kind] = ["pulumi.com/v1", "Stack"];
  return { apiVersion, kind, metadata: { name: "stray" }, spec: { stack: "stray", nonsense: true } };
}
