import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { KEY_TEXT } from "../simulation/operations";
import { newKey } from "../support/ssh-server";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";
import type { PreviewStep } from "./test-stack";
import { byNight } from "../left-out";

const RESOURCE = "test-encryption-key";

describe("the rotation of keys under the engine", function () {
  this.timeout(600_000);
  byNight("unit tests cover every phase of a rotation by day");
  const fixture = simulatedFixture({ machines: ["cp-1", "cp-2", "cp-3", "w-1"] });
  const want = (controlPlanes: string[], encryptionKeyGeneration: number) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, [...controlPlanes, "w-1"], {
        allowEvenControlPlanes: true,
        encryptionKeyGeneration,
      }),
    });
  const stepsOf = (preview: PreviewStep[]) =>
    preview.find(({ name }) => name === RESOURCE)?.inputs.steps as string[] | undefined;
  const keysOf = (machine: string) => fixture.fleet.state(machine).encryptionKeys;
  const changed = (from: number) =>
    fixture.fleet.journal
      .slice(from)
      .filter(({ operation, outcome }) => operation === "encryption-keys" && outcome === "done")
      .map(({ machine }) => machine);
  const failingUp = async () => {
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    return stdout + stderr;
  };

  it("makes a cluster with the first key, without a step", async () => {
    want(["cp-1", "cp-2"], 1);
    await fixture.stack.up();
    assert.deepEqual([keysOf("cp-1"), keysOf("cp-2")], [["foresail-1"], ["foresail-1"]]);
    const resources = (await fixture.stack.export()).deployment.resources ?? [];
    assert.equal(
      resources.some(({ urn }) => urn.endsWith(RESOURCE)),
      false,
    );
  });

  it("lists every phase on every control plane, and a failing run ends before the next phase", async () => {
    want(["cp-1", "cp-2"], 2);
    assert.deepEqual(stepsOf(await fixture.stack.preview()), [
      "cp-1: add the encryption key foresail-2, restart its API server",
      "cp-2: add the encryption key foresail-2, restart its API server",
      "cp-1: encrypt Secrets with foresail-2, restart its API server",
      "cp-2: encrypt Secrets with foresail-2, restart its API server",
      "cluster: write every Secret again, encrypted with foresail-2",
      "cp-1: remove the encryption keys before foresail-2, restart its API server",
      "cp-2: remove the encryption keys before foresail-2, restart its API server",
    ]);
    fixture.fleet.inject({
      operation: "encryption-keys",
      machine: "cp-2",
      kind: "fail",
      stderr: "no answer",
    });
    assert.match(await failingUp(), /rotate the encryption key failed.*no answer/s);
    assert.deepEqual([keysOf("cp-1"), keysOf("cp-2")], [["foresail-1", "foresail-2"], ["foresail-1"]]);
  });

  it("continues with a control plane that joins in the middle, which gets the current keys", async () => {
    fixture.fleet.inject({ operation: "encryption-stale", machine: "cp-1", kind: "fail", stderr: "cut off" });
    await failingUp();
    const both = ["foresail-2", "foresail-1"];
    assert.deepEqual([keysOf("cp-1"), keysOf("cp-2")], [both, both]);
    want(["cp-1", "cp-2", "cp-3"], 2);
    assert.equal(stepsOf(await fixture.stack.preview())?.length, 10);
    const from = fixture.fleet.journal.length;
    await fixture.stack.up();
    assert.deepEqual(changed(from), ["cp-1", "cp-2", "cp-3"]);
    for (const machine of ["cp-1", "cp-2", "cp-3"]) assert.deepEqual(keysOf(machine), ["foresail-2"]);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  it("changes nothing while a control plane can't be reached, and names it", async () => {
    want(["cp-1", "cp-2", "cp-3"], 3);
    fixture.fleet.powerOff("cp-3");
    const from = fixture.fleet.journal.length;
    const output = await failingUp();
    fixture.fleet.powerOn("cp-3");
    assert.match(output, /cp-3 can't be reached, and a rotation changes every control plane/);
    assert.deepEqual(changed(from), []);
  });

  it("refuses to go back to an earlier key", async () => {
    want(["cp-1", "cp-2", "cp-3"], 1);
    assert.match(await failingUp(), /encryptionKeyGeneration: is 3 and can't become 1/);
  });

  it("prints no key, and leaves none in the state", async () => {
    want(["cp-1", "cp-2", "cp-3"], 3);
    await fixture.stack.up();
    assert.deepEqual(keysOf("cp-3"), ["foresail-3"]);
    await fixture.stack.export();
    const { stateFolder } = fixture.stack;
    const files = readdirSync(stateFolder, { recursive: true, encoding: "utf8" })
      .map((name) => path.join(stateFolder, name))
      .filter((file) => statSync(file).isFile());
    assert.ok(files.length > 3);
    for (const text of [fixture.stack.printed, ...files.map((file) => readFileSync(file, "utf8"))])
      assert.equal(text.includes(KEY_TEXT), false);
  });

  it("leaves a rotated SSH key only in the preparations of machines", async () => {
    await fixture.stack.setSecret("sshPrivateKey", newKey().private);
    await fixture.stack.up();
    const { stdout } = await fixture.stack.call(["stack", "export", "--show-secrets"]);
    const { deployment } = JSON.parse(stdout) as { deployment: { resources: { type: string }[] } };
    const line = fixture.fleet.privateKey.split("\n")[2]!;
    assert.ok(line.length > 30 && stdout.includes(line));
    const holders = deployment.resources.filter((resource) => JSON.stringify(resource).includes(line));
    assert.deepEqual([...new Set(holders.map(({ type }) => type))], ["command:remote:Command"]);
    await fixture.stack.setSecret("sshPrivateKey", fixture.fleet.privateKey);
    await fixture.stack.up();
  });

  it("makes a new cluster with the key of its generation, without a rotation", async () => {
    await fixture.stack.destroy();
    // the API server of the tests outlives the cluster
    for (const name of ["cp-1", "cp-2", "cp-3", "w-1"])
      await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name });
    want(["cp-1"], 3);
    assert.deepEqual(stepsOf(await fixture.stack.preview()) ?? [], []);
    const from = fixture.fleet.journal.length;
    await fixture.stack.up();
    assert.deepEqual(changed(from), []);
    assert.deepEqual(keysOf("cp-1"), ["foresail-3"]);
  });
});
