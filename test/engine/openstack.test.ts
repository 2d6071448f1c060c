import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Answer, CloudServer, ok, readCloud } from "../unit/providers/openstack/cloud-server";
import { ChartRepository } from "../support/chart-repository";
import { newKey } from "../support/ssh-server";
import { startOpenstack } from "./recorded/openstack";
import { PORTS, readRecorded, StackOnServers } from "./recorded/recorded-stack";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";
import { TEST_NEEDS } from "../../sandbox/set-up";

const INSTANCE = "openstack:compute/instance:Instance";

describe("a preview of an OpenStack stack, on a cloud that is only read", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let folder: string;
  let cloud: CloudServer;
  let stack: TestStack;
  /** What the cloud answers about quotas. */
  let quotas: ((path: string) => Answer | undefined) | undefined;
  const key = newKey();

  const configure = (replicas: number, plugin: object = { flannel: {} }) =>
    stack.configure({
      system: "openstack",
      cluster: { name: "test", version: "1.36.3", network: { plugin } },
      openstack: {
        cloud: "eu1",
        network: { cidr: "10.20.0.0/24", externalNetwork: "public" },
        keypair: { publicKey: key.public },
        pools: [
          { name: "cp", role: "control-plane", replicas: 1, flavor: "m1", image: "debian" },
          { name: "w", role: "worker", replicas, flavor: "m1", image: "debian" },
        ],
        access: { ssh: ["198.51.100.0/24"], api: ["198.51.100.0/24"] },
        cloudProvider: { enabled: false },
      },
    });

  before(async () => {
    const toolchain = await engineToolchain([...TEST_NEEDS.programs, "plugin-openstack"]);
    cloud = new CloudServer((request) => quotas?.(request.path) ?? readCloud(request));
    await cloud.listen();
    folder = makeCompiledClone();
    stack = new TestStack({ folder, project: "foresail", stack: "test" }, toolchain);
    const auth = `{auth_url: "${cloud.url}", application_credential_id: a, application_credential_secret: s}`;
    const clouds = path.join(folder, "clouds.yaml");
    writeFileSync(clouds, `clouds: {eu1: {region_name: one, auth: ${auth}}}\n`);
    stack.environment.OS_CLIENT_CONFIG_FILE = clouds;
    await stack.create();
    await stack.setSecret("sshPrivateKey", key.private);
  });

  after(async () => {
    await cloud?.close();
    if (folder) removeFolder(folder);
  });

  it("creates all machines of a new stack, whose state it reads itself", async () => {
    configure(2);
    const steps = await stack.preview();
    const names = steps.filter(({ type }) => type === INSTANCE).map(({ name }) => name);
    assert.deepEqual(names.map((name) => name.replace(/-[0-9a-z]{5}$/, "")).sort(), [
      "test-cp-1",
      "test-w-1",
      "test-w-2",
    ]);
    assert.ok(steps.every(({ op }) => op === "create"));
  });

  it("gives a machine that is lost according to the state another name, since it reads that state itself", async () => {
    configure(1);
    const servers = async () =>
      (await stack.preview()).flatMap(({ type, name }) => (type === INSTANCE ? [name] : []));
    const [plane, worker = ""] = (await servers()).sort();
    const { deployment, ...others } = await stack.export();
    const type = "pulumi-nodejs:dynamic/foresail:NodeGroup";
    const group = {
      urn: `urn:pulumi:test::foresail::${type}::test-w`,
      ...{ custom: false, type, outputs: { members: [{ name: worker.replace(/^test-/, "") }] } },
    };
    const input = JSON.stringify({ ...others, deployment: { ...deployment, resources: [group] } });
    assert.equal((await stack.call(["stack", "import"], { input })).exitCode, 0);
    const [samePlane, successor] = (await servers()).sort();
    assert.equal(samePlane, plane);
    assert.match(String(successor), /^test-w-1-[0-9a-z]{5}$/);
    assert.notEqual(successor, worker);
  });

  it("refuses what the project's quotas have no room for, all of it at once, and takes what just fits", async () => {
    /** @param spare how much more than too little there is */
    const withRoom = (spare: 0 | 1) => (ref: string) => {
      const absolute = {
        ...{ maxTotalInstances: 3 + spare, totalInstancesUsed: 1 },
        ...{ maxServerGroups: 1 + spare, totalServerGroupsUsed: 0 },
      };
      if (ref === "/compute/v2.1/limits") return ok({ limits: { absolute } });
      if (ref.endsWith("/quotas/tenant")) return ok({ tenant: { tenant_id: "p1" } });
      if (!ref.endsWith("/quotas/p1/details.json")) return undefined;
      const port = { limit: 6 + spare, used: 2, reserved: 1 };
      return ok({
        quota: { port, router: { limit: 1 + spare, used: 1 }, floatingip: { limit: 0, used: 0 } },
      });
    };
    configure(2);
    quotas = withRoom(0);
    const { exitCode, stdout, stderr } = await stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    const printed = stdout + stderr;
    for (const words of [
      "servers exceeded: needs 3 more, limit 3, used 1",
      // each machine and the router have one
      "ports exceeded: needs 4 more, limit 6, used 3",
      "routers exceeded: needs 1 more, limit 1, used 1",
      "server groups exceeded: needs 2 more, limit 1, used 0",
    ])
      assert.match(printed, new RegExp(`quota for ${words}`));
    assert.doesNotMatch(printed, /floating IPs exceeded|networks exceeded/);
    quotas = withRoom(1);
    assert.ok((await stack.preview()).length > 0);
    quotas = undefined;
  });

  it("refuses a chart and manifests with another digest than the configured one", async () => {
    const chart = path.join(folder, "chart");
    mkdirSync(chart);
    writeFileSync(path.join(chart, "Chart.yaml"), "{apiVersion: v2, name: network, version: 1.0.0}");
    const repository = await ChartRepository.start([{ folder: chart }]);
    try {
      const download = await fetch(`${repository.url}/network-1.0.0.tgz`);
      const content = Buffer.from(await download.arrayBuffer());
      const right = `sha256:${createHash("sha256").update(content).digest("hex")}`;
      const wrong = `sha256:${"0".repeat(64)}`;
      const source = { chart: "network", repository: repository.url, version: "1.0.0" };
      for (const plugin of [
        { chart: { ...source, digest: wrong } },
        { manifest: { url: `${repository.url}/index.yaml`, digest: wrong } },
      ]) {
        configure(1, plugin);
        const { exitCode, stdout, stderr } = await stack.call(["preview"]);
        assert.notEqual(exitCode, 0);
        assert.match(stdout + stderr, new RegExp(`and ${wrong} is expected, so nothing of it was used`));
      }
      configure(1, { chart: { ...source, digest: right } });
      assert.ok((await stack.preview()).length > 0);
    } finally {
      await repository.stop();
    }
  });

  it("refuses a target that leaves out the cloud preflight, so that no object gets an unknown owner tag", async () => {
    configure(1);
    await stack.call(["stack", "import"], { input: JSON.stringify({ version: 3, deployment: {} }) });
    const component = "foresail:openstack:OpenstackCluster";
    const urn = (type: string, name: string) => `urn:pulumi:test::foresail::${type}::${name}`;
    const targets = [
      urn(component, "test"),
      urn(`${component}$pulumi:providers:openstack`, "test"),
      urn(`${component}$openstack:networking/secGroup:SecGroup`, "test-nodes"),
    ].flatMap((target) => ["--target", target]);
    for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { exitCode, stdout, stderr } = await stack.call([...command, ...targets]);
      assert.notEqual(exitCode, 0);
      assert.match(stdout + stderr, /depends on '[^']+:CloudPlan::test-cloud' which was was not specified/);
    }
    const { deployment } = await stack.export();
    const made = (deployment.resources ?? []).filter(({ type }) => String(type).startsWith("openstack:"));
    assert.deepEqual(made, []);
  });
});

describe("an OpenStack stack whose servers were changed in the cloud", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let opened: StackOnServers;
  const compute = `http://127.0.0.1:${PORTS.service}/compute/v2.1`;

  before(async () => {
    const toolchain = await engineToolchain([...TEST_NEEDS.programs, "plugin-openstack"]);
    opened = await StackOnServers.open(startOpenstack, toolchain, readRecorded("openstack-0.1.0"));
  });

  after(() => opened?.close());

  const servers = async (): Promise<{ id: string; name: string }[]> =>
    ((await (await fetch(`${compute}/servers/detail`)).json()) as { servers: { id: string; name: string }[] })
      .servers;

  it("keeps a renamed machine and its Node, and gives the server its name again, as the preview says", async () => {
    const { stack } = opened;
    const before = await servers();
    const worker = before.find(({ name }) => name.startsWith("w-1-"))!;
    const body = JSON.stringify({ server: { name: "renamed-by-hand" } });
    assert.ok((await fetch(`${compute}/servers/${worker.id}`, { method: "PUT", body })).ok);
    await stack.refresh();
    const steps = (await stack.preview()).filter(({ type }) => type.startsWith("openstack:"));
    assert.deepEqual(
      steps.map(({ op, type, name }) => [op, type, name]),
      [["update", INSTANCE, `test-${worker.name}`]],
    );
    await stack.up();
    assert.deepEqual(await servers(), before);
    assert.deepEqual(await stack.preview(), []);
  });

  /** Runs commands that the preview refuses, and returns the reason. */
  const refusal = async (): Promise<string> => {
    const { exitCode, stdout, stderr } = await opened.stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    return stdout + stderr;
  };
  const network = `http://127.0.0.1:${PORTS.service}/network/v2.0`;
  const portOf = async (server: string): Promise<string> => {
    const { ports } = (await (await fetch(`${network}/ports?device_id=${server}`)).json()) as {
      ports: { id: string }[];
    };
    return ports[0]!.id;
  };
  const setUser = async (port: string, device_id: string) =>
    assert.ok(
      (
        await fetch(`${network}/ports/${port}`, {
          method: "PUT",
          body: JSON.stringify({ port: { device_id } }),
        })
      ).ok,
    );

  it("refuses to go on when a port was taken from its server, with the command that attaches it", async () => {
    const { id, name } = (await servers()).find((server) => server.name.startsWith("w-1-"))!;
    const port = await portOf(id);
    await setUser(port, "");
    const reason = await refusal();
    assert.match(reason, new RegExp(`the port of ${name} is not attached to its server`));
    assert.match(reason, new RegExp(`openstack server add port ${id} ${port}`));
    await setUser(port, id);
    assert.deepEqual(await opened.stack.preview(), []);
  });

  it("replaces a machine whose port was deleted as a step of the preview, and then has nothing left to do", async () => {
    const { stack } = opened;
    const { id, name } = (await servers()).find((server) => server.name.startsWith("w-1-"))!;
    await fetch(`${network}/ports/${await portOf(id)}`, { method: "DELETE" });
    assert.match(
      await refusal(),
      new RegExp(`deleted in the cloud: the port test-${name}; run .pulumi refresh.`),
    );
    await stack.refresh();
    const { exitCode, stdout } = await stack.call(["preview"]);
    assert.equal(exitCode, 0, stdout);
    assert.match(
      stdout,
      new RegExp(`w-1: w-1-\\w+ is made, then the server of ${name} is deleted, since its port is gone`),
    );
    assert.match(stdout, new RegExp(`${name}: lost, delete its Node`));
    await stack.up();
    const after = await servers();
    assert.ok(after.every((server) => server.id !== id));
    assert.equal(after.filter((server) => server.name.startsWith("w-1-")).length, 1);
    assert.deepEqual(await stack.preview(), []);
  });

  it("makes a security group that was deleted again, after it says that the state does not know it", async () => {
    const { stack } = opened;
    const groups = async () =>
      (
        (await (await fetch(`${network}/security-groups?name=test-nodes`)).json()) as {
          security_groups: { id: string }[];
        }
      ).security_groups;
    await fetch(`${network}/security-groups/${(await groups())[0]!.id}`, { method: "DELETE" });
    assert.match(await refusal(), /deleted in the cloud: the security group test-nodes/);
    await stack.refresh();
    await stack.up();
    assert.equal((await groups()).length, 1);
    assert.deepEqual(await stack.preview(), []);
  });

  it("removes the machine that was stopped when its pool becomes smaller, and keeps the one that runs", async () => {
    const { stack } = opened;
    const workers = async () =>
      (await servers())
        .filter(({ name }) => name.startsWith("w-"))
        .sort((one, other) => one.name.localeCompare(other.name));
    const resize = (replicas: number) =>
      opened.reconfigure(({ openstack = {}, ...others }) => {
        const pools = (openstack["pools"] as { name: string }[]).map((pool) =>
          pool.name === "w" ? { ...pool, replicas } : pool,
        );
        return { ...others, openstack: { ...openstack, pools } };
      });
    const [stopped, running] = await workers();
    assert.match(stopped!.name + running!.name, /^w-1-.*w-2-/);
    const body = JSON.stringify({ server: { status: "SHUTOFF" } });
    assert.ok((await fetch(`${compute}/servers/${stopped!.id}`, { method: "PUT", body })).ok);
    resize(1);
    const { exitCode, stdout } = await stack.call(["preview"]);
    assert.equal(exitCode, 0, stdout);
    const reason = "leaves first and is deleted without a drain, since its server is SHUTOFF";
    assert.match(stdout, new RegExp(`w-1: ${stopped!.name} ${reason}`));
    assert.match(stdout, new RegExp(`${stopped!.name}: lost, delete its Node`));
    assert.doesNotMatch(stdout, new RegExp(`${running!.name}.* (drain|delete)`));
    await stack.up();
    assert.deepEqual(await workers(), [running]);
    assert.deepEqual(await stack.preview(), []);
  });

  it("asks no machine that left when it is destroyed, since its server is deleted", async () => {
    const { stack } = opened;
    await stack.destroy();
    assert.doesNotMatch(stack.printed, /left earlier/);
    assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
  });
});
