import assert from "node:assert/strict";
import { setUp, TEST_NEEDS } from "../../../sandbox/set-up";
import { KUBERNETES_VERSION } from "../../../sandbox/systems/ssh-configuration";
import { silent } from "../../cluster/test-cluster";
import { oneAfterTheOther } from "../../one-after-the-other";
import { PulumiStack, type Said } from "../../support/pulumi-stack";
import { acceptanceServer, freshName, type AcceptanceServer } from "./server";

const NOTHING = { namespace: undefined, vNet: undefined, machines: undefined };
/** The cloud's half of the stack: no one can log in to the VMs of a mock cloud, and the cluster would wait for them. */
const CLOUD = [
  // a URN has the types of all parents in it: a pattern for "Tumblebug" anywhere takes the cluster too
  "**:dynamic/foresail:Tumblebug*::**",
  "**::foresail:tumblebug:TumblebugCluster::dev",
  "**$foresail:tumblebug:TumblebugMachines::dev",
].flatMap((urns) => ["--target", urns]);

/** In the order of a stack's life cycle. */
describe("A stack on the Tumblebug server under acceptance", function () {
  this.timeout(1_200_000);
  const namespace = freshName("fsstack");
  let server: AcceptanceServer;
  let stack: PulumiStack;

  before(async function () {
    server = await acceptanceServer(this);
    const toolchain = await setUp({ ...TEST_NEEDS, nodes: false }, silent);
    stack = await PulumiStack.create("acceptance-tumblebug", toolchain, {});
    const machine = { connection: server.connection, spec: server.cloudSpec, image: server.cloudImage };
    await stack.configure(
      {
        system: "tumblebug",
        cluster: { name: "dev", version: KUBERNETES_VERSION, network: { plugin: { bridge: {} } } },
        tumblebug: {
          ...{ address: server.address, namespace, createNamespace: true, allowMock: true, allowHttp: true },
          connections: [{ name: server.connection }],
          groups: [
            { name: "cp", role: "control-plane", replicas: 1, ...machine },
            { name: "w", role: "worker", replicas: 1, ...machine },
          ],
          access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
        },
      },
      { tumblebugCredentials: JSON.stringify({ username: server.user, password: server.password }) },
    );
  });

  oneAfterTheOther();

  after(async () => {
    // a run that failed half-way leaves nothing that costs money
    await stack?.destroy();
    await stack?.remove();
    await server?.close();
  });

  const succeeded = ({ exitCode, words }: Said) => assert.equal(exitCode, 0, words);
  const contents = async () => {
    const tumblebug = await server.open();
    try {
      const [vNet] = await tumblebug.vNets.list(namespace);
      const found = await tumblebug.infrastructures.read(namespace, "dev");
      const there = await tumblebug.namespaces.read(namespace);
      return {
        namespace: there?.name,
        vNet: vNet?.name,
        machines: found?.machines.map(({ name, status }) => `${name} ${status}`).sort(),
      };
    } finally {
      tumblebug.close();
    }
  };

  it("previews every object before the server has any", async () => {
    const { changes, steps } = await stack.previewed();
    const created = changes.map((change) => JSON.stringify(change)).join("\n");
    for (const kind of ["vpc", "sg", "control-planes-sg", "sshkey"])
      assert.match(created, new RegExp(`"dev-${server.connection}-${kind}","operation":"create"`));
    assert.match(created, /"dev-machines","operation":"create"/);
    assert.match(Object.values(steps).flat().join("\n"), /create the vNet/);
    assert.deepEqual(await contents(), NOTHING);
  });

  it("creates the VMs with everything that they need in the cloud", async () => {
    succeeded(await stack.up(...CLOUD));
    const vms = (await stack.outputs())["vms"] as Record<string, { vm: string }>;
    assert.deepEqual(Object.keys(vms).sort(), ["cp-1", "w-1"]);
    assert.deepEqual(await contents(), {
      ...{ namespace, vNet: `dev-${server.connection}-vpc` },
      machines: Object.values(vms)
        .map(({ vm }) => `${vm} Running`)
        .sort(),
    });
  });

  it("has nothing to do in the next run", async () => {
    assert.deepEqual((await stack.previewed(...CLOUD)).changes, []);
  });

  it("finds all objects in a refresh", async () => {
    const before = await contents();
    const refreshed = await stack.refresh();
    succeeded(refreshed);
    assert.doesNotMatch(refreshed.words, /^ *[+~-] *\d+ (?:created|updated|deleted)/m);
    assert.deepEqual((await stack.previewed(...CLOUD)).changes, []);
    assert.deepEqual(await contents(), before);
  });

  it("leaves nothing on the server when it is destroyed", async () => {
    succeeded(await stack.destroy());
    assert.deepEqual(await contents(), NOTHING);
    const { deployment } = JSON.parse(await stack.export()) as { deployment: { resources?: unknown[] } };
    assert.deepEqual(deployment.resources ?? [], []);
  });
});
