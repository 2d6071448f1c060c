import assert from "node:assert/strict";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

/** Nothing listens there. */
const CLOSED_PORT = 1;

describe("pulumi up --continue-on-error while a machine of one pool is broken", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2", "w-3", "w-4"] });
  const timeouts = { sshSeconds: 3, prepareSeconds: 30, initSeconds: 60, joinSeconds: 60, readySeconds: 60 };
  const configure = (...machines: (string | DesiredMachine)[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, { timeouts }) });
  const inPool = (name: string, pool: string, others: object = {}) => ({ name, pool, ...others });
  const members = async () => Object.keys(await observedCluster(fixture.kubernetes));
  async function upWithFailure(): Promise<string> {
    const command = ["up", "--yes", "--skip-preview", "--continue-on-error"];
    const { exitCode, stdout, stderr } = await fixture.stack.call(command);
    assert.notEqual(exitCode, 0, stdout + stderr);
    return stdout + stderr;
  }
  const unread = { hostKey: undefined, port: CLOSED_PORT };

  it("makes the cluster, and joins the machines of the other pools", async () => {
    configure("cp-1", inPool("w-1", "a"), inPool("w-2", "b", unread));
    const output = await upWithFailure();
    assert.match(output, /HostKey w-2: first contact over SSH failed/);
    assert.deepEqual(await members(), ["cp-1", "w-1"], output);
  });

  it("goes on in the same way in a cluster that exists, and names the machine in each preview", async () => {
    configure("cp-1", inPool("w-1", "a"), inPool("w-2", "b", unread), inPool("w-3", "a"));
    const created = (await fixture.stack.preview()).filter(({ op }) => op === "create");
    assert.ok(created.some(({ name }) => name === "test-w-2-host-key"));
    const output = await upWithFailure();
    assert.deepEqual(await members(), ["cp-1", "w-1", "w-3"], output);
  });

  it("does so when the key is configured, and the machine does not answer", async () => {
    configure(
      ...["cp-1", inPool("w-1", "a"), inPool("w-2", "b", { port: CLOSED_PORT })],
      ...[inPool("w-3", "a"), inPool("w-4", "a")],
    );
    const output = await upWithFailure();
    assert.deepEqual(await members(), ["cp-1", "w-1", "w-3", "w-4"], output);
  });

  it("joins the machine when it answers, and has nothing left to do", async () => {
    configure(
      ...["cp-1", inPool("w-1", "a"), inPool("w-2", "b", { hostKey: undefined })],
      ...[inPool("w-3", "a"), inPool("w-4", "a")],
    );
    await fixture.stack.up();
    assert.deepEqual(await members(), ["cp-1", "w-1", "w-2", "w-3", "w-4"]);
    assert.deepEqual(await fixture.stack.preview(), []);
  });
});
