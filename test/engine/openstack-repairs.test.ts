import assert from "node:assert/strict";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { startOpenstack } from "./recorded/openstack";
import { type Configuration, PORTS, readRecorded, StackOnServers } from "./recorded/recorded-stack";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

interface Server {
  id: string;
  name: string;
  status: string;
  metadata: Record<string, string>;
}

const CLOUD = `http://127.0.0.1:${PORTS.service}`;

describe("an OpenStack stack whose servers were stopped, lost or robbed of their metadata", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let opened: StackOnServers;

  before(async () => {
    const toolchain = await engineToolchain([...TEST_NEEDS.programs, "plugin-openstack"]);
    opened = await StackOnServers.open(startOpenstack, toolchain, readRecorded("openstack-0.1.0"));
  });

  after(() => opened?.close());

  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${CLOUD}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    const text = await answer.text();
    return text === "" ? undefined : JSON.parse(text);
  };
  const servers = async () =>
    ((await ask("GET", "/compute/v2.1/servers/detail")) as { servers: Server[] }).servers;
  const serverOf = async (slot: string) =>
    (await servers()).find(({ name }) => name.startsWith(`${slot}-`)) ?? assert.fail(`no server of ${slot}`);
  const change = ({ id }: Server, fields: Partial<Server>) =>
    ask("PUT", `/compute/v2.1/servers/${id}`, { server: fields });
  /** Returns what a preview prints. */
  const preview = async (): Promise<string> => {
    const { exitCode, stdout, stderr } = await opened.stack.call(["preview"]);
    assert.equal(exitCode, 0, stdout + stderr);
    return stdout;
  };
  const replace = (slot: string, count: number) =>
    opened.reconfigure(({ openstack = {}, ...others }: Configuration) => ({
      ...others,
      openstack: { ...openstack, replace: { [slot]: count } },
    }));

  before(() => opened.stack.up());

  for (const [when, refreshes] of [
    ["before a refresh knows", false],
    ["after a refresh", true],
  ] as const)
    it(`restores removed metadata as a step of the preview, ${when}`, async () => {
      const { stack } = opened;
      const before = await servers();
      const worker = await serverOf("w-1");
      const plane = await serverOf("cp-2");
      await change(worker, { metadata: {} });
      await change(plane, { metadata: { ...plane.metadata, "foresail-flavor": "other" } });
      if (refreshes) await stack.refresh();
      const printed = await preview();
      assert.match(
        printed,
        new RegExp(`${worker.name}: restore the metadata of its server: foresail-cluster, `),
      );
      assert.match(printed, new RegExp(`${plane.name}: restore the metadata of its server: foresail-flavor`));
      assert.doesNotMatch(printed, /is made|drain/);
      await stack.up();
      const after = await servers();
      assert.deepEqual(
        after.map(({ id, name }) => [id, name]),
        before.map(({ id, name }) => [id, name]),
      );
      const { metadata } = after.find(({ id }) => id === worker.id)!;
      assert.equal(metadata["foresail-slot"], "w-1");
      assert.equal(metadata["foresail-mark"], worker.metadata["foresail-mark"]);
      assert.equal(metadata["foresail-initialized"], worker.metadata["foresail-initialized"]);
      assert.equal((await serverOf("cp-2")).metadata["foresail-flavor"], plane.metadata["foresail-flavor"]);
      assert.deepEqual(await stack.preview(), []);
    });

  it("has nothing left to do after it replaced a machine whose server was deleted", async () => {
    const { stack } = opened;
    const lost = await serverOf("w-2");
    await ask("DELETE", `/compute/v2.1/servers/${lost.id}`);
    await stack.refresh();
    assert.match(await preview(), new RegExp(`${lost.name}: lost, delete its Node`));
    await stack.up();
    assert.notEqual((await serverOf("w-2")).name, lost.name);
    assert.deepEqual(await stack.preview(), []);
    await stack.refresh();
    assert.deepEqual(await stack.preview(), []);
  });

  it("names a joined machine in ERROR in each preview", async () => {
    const worker = await serverOf("batch-1");
    await change(worker, { status: "ERROR" });
    assert.match(
      await preview(),
      new RegExp(
        `${worker.name}: its server is ERROR; restart it: .openstack server reboot --hard ${worker.id}`,
      ),
    );
    await change(worker, { status: "ACTIVE" });
    assert.doesNotMatch(await preview(), /is ERROR/);
  });

  it("replaces a stopped machine without a drain, as the preview says", async () => {
    const { stack } = opened;
    const stopped = await serverOf("w-1");
    await change(stopped, { status: "SHUTOFF" });
    replace("w-1", 1);
    const printed = await preview();
    assert.match(
      printed,
      new RegExp(
        `is made and joins, then ${stopped.name} is deleted without a drain, since its server is SHUTOFF`,
      ),
    );
    assert.match(printed, new RegExp(`${stopped.name}: lost, delete its Node`));
    assert.doesNotMatch(printed, new RegExp(`${stopped.name}: cordon`));
    await stack.up();
    const now = (await servers()).filter(({ name }) => name.startsWith("w-1-"));
    assert.equal(now.length, 1);
    assert.notEqual(now[0]!.id, stopped.id);
    assert.deepEqual(await stack.preview(), []);
  });

  it("continues a run that a cloud without a server for the request ended", async () => {
    const { stack } = opened;
    const fault = { service: "compute", method: "POST", times: 1, status: 503, retryAfter: 1 };
    await ask("POST", "/faults", fault);
    replace("w-1", 2);
    const { exitCode, stdout, stderr } = await stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /The service is currently unable to handle the request/);
    await stack.up();
    assert.equal((await servers()).filter(({ name }) => name.startsWith("w-1-")).length, 1);
    assert.deepEqual(await stack.preview(), []);
  });

  it("waits while the cloud asks for it, in refresh, up and destroy", async () => {
    const { stack } = opened;
    const busy = async (service: string): Promise<number> => {
      const fault = { service, times: 12, status: 429, retryAfter: 1 };
      return ((await ask("POST", "/faults", fault)) as { left: number }).left;
    };
    await busy("network");
    await stack.refresh();
    assert.equal(await busy("compute"), 0);
    replace("w-1", 3);
    await stack.up();
    assert.equal(await busy("network"), 0);
    await stack.destroy();
    assert.equal(await busy("identity"), 0);
    assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
  });
});
