import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectionOf } from "../../../../sandbox/tumblebug/clouds";
import { FakeMachines } from "../../../../sandbox/tumblebug/machines";
import { TumblebugServer } from "../../../../sandbox/tumblebug/server";
import { openTumblebug } from "../../../../providers/tumblebug/client";
import { CREDENTIAL, GENERATIONS, plant, startFakeTumblebug } from "../../../support/tumblebug";

function ask(address: string, path_: string): Promise<Response> {
  const { user, password } = CREDENTIAL;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  return fetch(`${address}${path_}`, { headers: { authorization } });
}

describe("The VMs of the simulated Tumblebug", () => {
  for (const generation of GENERATIONS)
    it(`outlive their server, and the next server completes what it had begun (${generation})`, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), "foresail-tumblebug-"));
      const machines = new FakeMachines();
      const settings = {
        generation,
        folder,
        ...CREDENTIAL,
        connections: [connectionOf("aws", "ap-northeast-2")],
        machines,
        limits: false,
      };
      const first = new TumblebugServer({ ...settings, durations: { termination: 60_000 } });
      const address = await first.start();
      let client = await openTumblebug({ address, ...CREDENTIAL });
      const group = await plant(client);
      await client.infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 2)] });
      client.close();
      // the request blocks until all have ended, and the server is gone before that
      const cut = assert.rejects(ask(address, `/ns/ns1/control/${generation}/k1?action=terminate`));
      while (first.state.machines().some(({ machine }) => machine.status !== "Terminating")) await pause(5);
      await first.close();
      await cut;
      assert.equal(machines.count, 2);

      const second = new TumblebugServer(settings);
      client = await openTumblebug({ address: await second.start(), ...CREDENTIAL });
      for (let turn = 0; machines.count > 0 && turn < 100; turn++) await pause(10);
      const found = await client.infrastructures.read("ns1", "k1");
      assert.deepEqual(
        found?.machines.map(({ status }) => status),
        ["Terminated", "Terminated"],
      );
      assert.match((await client.sshKeys.read("ns1", "k1"))?.privateKey ?? "", /PRIVATE KEY/);
      client.close();
      await second.close();
      await rm(folder, { recursive: true, force: true });
    });

  it("go through their states in time, and stay in one on request", async () => {
    const { tumblebug, server, address, close } = await startFakeTumblebug("mcis", {
      durations: { creation: 100, termination: 100 },
    });
    const group = await plant(tumblebug);
    const states = () =>
      server.state.machines().map(({ machine }) => `${machine.status}/${machine.targetAction}`);
    const making = tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("w", 2)] });
    while (states().length < 2) await pause(5);
    assert.deepEqual(states(), ["Creating/Create", "Creating/Create"]);
    await making;
    assert.deepEqual(states(), ["Running/None", "Running/None"]);
    server.faults.addForMachines({ machine: "w-2", effect: { kind: "stuck-terminating" } });
    const ending = ask(address, "/ns/ns1/control/mcis/k1?action=terminate");
    while (states()[0] === "Running/None") await pause(5);
    assert.deepEqual(states(), ["Terminating/Terminate", "Terminating/Terminate"]);
    assert.equal((await ending).status, 200);
    // the server finds out at the next read
    const read = await tumblebug.infrastructures.read("ns1", "k1");
    assert.deepEqual(
      read?.machines.map(({ status }) => status),
      ["Terminated", "Terminating"],
    );
    await assert.rejects(tumblebug.infrastructures.delete("ns1", "k1"), { code: "NotAllowedNow" });
    assert.equal(await tumblebug.infrastructures.delete("ns1", "k1", { force: true }), true);
    await close();
  });

  it("block their calls for the requested part of the recorded time", async () => {
    const { address, tumblebug, close } = await startFakeTumblebug("mcis", { pace: 0.02 });
    const group = await plant(tumblebug);
    const timed = async (work: () => Promise<unknown>) => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    };
    const groups = [group("w", 2)];
    const creation = await timed(() => tumblebug.infrastructures.create("ns1", { name: "k1", groups }));
    assert.ok(creation >= 0.02 * 20_000, `${creation} ms`);
    const end = () => ask(address, "/ns/ns1/control/mcis/k1?action=terminate");
    const termination = await timed(end);
    assert.ok(termination >= 0.02 * 2 * 3000, `${termination} ms`);
    const read = () => ask(address, "/ns/ns1/mcis/k1?option=status");
    const [first, second] = [await timed(read), await timed(read)];
    assert.ok(first >= 0.02 * 25_000, `${first} ms`);
    assert.ok(second < first, `${second} ms after ${first} ms`);
    await close();
  });

  it("vanish behind the server's back on request", async () => {
    const { tumblebug, address, close, machines } = await startFakeTumblebug("infra");
    const group = await plant(tumblebug);
    await tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("w", 2)] });
    const vanish = (body: object) =>
      fetch(`${address}/sandbox/vanish`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${CREDENTIAL.user}:${CREDENTIAL.password}`).toString("base64")}`,
        },
        body: JSON.stringify({ namespace: "ns1", ...body }),
      });
    await vanish({ infrastructure: "k1", machine: "w-1" });
    assert.equal((await tumblebug.infrastructures.readMachine("ns1", "k1", "w-1"))?.status, "Undefined");
    assert.equal(machines.count, 1);
    await vanish({ infrastructure: "k1" });
    assert.equal(await tumblebug.infrastructures.read("ns1", "k1"), undefined);
    await vanish({ kind: "sshKey", id: "k1" });
    assert.equal(await tumblebug.sshKeys.read("ns1", "k1"), undefined);
    await close();
  });
});
