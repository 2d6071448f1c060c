import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectionOf } from "../../../sandbox/tumblebug/clouds";
import { PretendedMachines } from "../../../sandbox/tumblebug/machines";
import { TumblebugServer } from "../../../sandbox/tumblebug/server";
import { openTumblebug } from "../../../clients/tumblebug";
import { CREDENTIAL, GENERATIONS, plant, pretendTumblebug } from "../../support/tumblebug";

describe("the VMs of the pretended Tumblebug", () => {
  for (const generation of GENERATIONS)
    it(`outlive their server, and what it had begun is brought to its end by the next (${generation})`, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), "foresail-tumblebug-"));
      const machines = new PretendedMachines();
      const settings = {
        generation,
        folder,
        ...CREDENTIAL,
        connections: [connectionOf("aws", "ap-northeast-2")],
        machines,
        limits: false,
      };
      const first = new TumblebugServer({ ...settings, delays: { termination: 60_000 } });
      let client = await openTumblebug({ address: await first.start(), ...CREDENTIAL });
      const group = await plant(client);
      await client.infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 2)] });
      await client.infrastructures.control("ns1", "k1", "terminate");
      client.close();
      await first.close();
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

  it("go through their states in their time, and stay in one when asked to", async () => {
    const { tumblebug, server, close } = await pretendTumblebug("mcis", {
      delays: { creation: 100, termination: 100 },
    });
    const group = await plant(tumblebug);
    const states = async () =>
      ((await tumblebug.infrastructures.read("ns1", "k1"))?.machines ?? []).map(
        ({ status, targetAction }) => `${status}/${targetAction}`,
      );
    const making = tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("w", 2)] });
    await pause(50);
    assert.deepEqual(await states(), ["Creating/Create", "Creating/Create"]);
    await making;
    assert.deepEqual(await states(), ["Running/None", "Running/None"]);
    server.faults.addForMachines({ machine: "w-2", effect: { kind: "stuck-terminating" } });
    await tumblebug.infrastructures.control("ns1", "k1", "terminate");
    assert.deepEqual(await states(), ["Terminating/Terminate", "Terminating/Terminate"]);
    await pause(200);
    assert.deepEqual(await states(), ["Terminated/None", "Terminating/Terminate"]);
    await assert.rejects(tumblebug.infrastructures.delete("ns1", "k1"), { code: "NotAllowedNow" });
    assert.equal(await tumblebug.infrastructures.delete("ns1", "k1", { option: "force" }), true);
    await close();
  });

  it("vanish behind the server's back on request", async () => {
    const { tumblebug, address, close, machines } = await pretendTumblebug("infra");
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
