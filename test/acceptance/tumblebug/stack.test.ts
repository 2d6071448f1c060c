import assert from "node:assert/strict";
import { setUp, TEST_NEEDS } from "../../../sandbox/set-up";
import { KUBERNETES_VERSION } from "../../../sandbox/systems/ssh-configuration";
import { silent } from "../../cluster/test-cluster";
import { oneAfterTheOther } from "../../one-after-the-other";
import { PulumiStack } from "../../support/pulumi-stack";
import { acceptanceServer, freshName, type AcceptanceServer } from "./server";

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
          ...{ address: server.address, namespace, createNamespace: true, allowMock: true },
          connections: [{ name: server.connection }],
          groups: [
            { name: "cp", role: "control-plane", count: 1, ...machine },
            { name: "w", role: "worker", count: 2, ...machine },
          ],
          access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
        },
      },
      { tumblebugCredentials: JSON.stringify({ username: server.user, password: server.password }) },
    );
  });

  oneAfterTheOther();

  after(async () => {
    await stack?.remove();
    await server?.close();
  });

  const contents = async () => {
    const tumblebug = await server.open();
    try {
      const [vNet] = await tumblebug.vNets.list(namespace);
      const found = await tumblebug.infrastructures.read(namespace, "dev");
      const there = await tumblebug.namespaces.read(namespace);
      return {
        namespace: there?.name,
        vNet: vNet?.name,
        machines: found?.machines.map(({ name, status }) => `${name} ${status}`),
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
    assert.deepEqual(await contents(), { namespace: undefined, vNet: undefined, machines: undefined });
  });
});
