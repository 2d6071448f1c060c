import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import type { DesiredVmGroup } from "../../../../../providers/tumblebug/plan/model";
import {
  CONNECTION,
  GENERATIONS,
  plant,
  startFakeTumblebug,
  type FakeTumblebug,
} from "../../../../support/tumblebug";

for (const generation of GENERATIONS)
  describe(`VMs of Tumblebug (${generation})`, () => {
    let fake: FakeTumblebug;
    let group: (name: string, size: number) => DesiredVmGroup;
    const path = generation === "mcis" ? "/mcis" : "/infra";

    beforeEach(async () => {
      fake = await startFakeTumblebug(generation);
      group = await plant(fake.tumblebug);
    });
    afterEach(() => fake.close());

    it("are created in groups, read, and deleted with their infrastructure", async () => {
      const { infrastructures } = fake.tumblebug;
      assert.equal(await infrastructures.read("ns1", "k1"), undefined);
      const made = await infrastructures.create("ns1", {
        name: "k1",
        groups: [group("cp", 11), group("w-1", 1)],
      });
      assert.deepEqual(
        made.machines.map(({ name }) => name),
        ["cp-1", "cp-10", "cp-11", ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `cp-${n}`), "w-1-1"],
      );
      const [first] = made.machines;
      assert.deepEqual(
        { ...first, publicAddress: "", privateAddress: "", cloudId: "", cloudName: "" },
        {
          ...{ name: "cp-1", group: "cp", status: "Running", targetAction: "None", systemMessage: "" },
          ...{ region: "ap-northeast-2", zone: "ap-northeast-2a", publicAddress: "", privateAddress: "" },
          ...{
            sshPort: 22,
            connection: CONNECTION,
            user: "cb-user",
            sshKey: "k1",
            cloudId: "",
            cloudName: "",
          },
        },
      );
      assert.notEqual(first!.cloudId, "");
      assert.deepEqual((await infrastructures.read("ns1", "k1"))?.machines, made.machines);
      await assert.rejects(infrastructures.create("ns1", { name: "k1", groups: [] }), {
        code: "AlreadyExists",
      });
      await assert.rejects(infrastructures.delete("ns1", "k1"), { code: "NotAllowedNow" });
      await infrastructures.terminate("ns1", "k1");
      assert.equal(await infrastructures.delete("ns1", "k1"), true);
      assert.equal(await infrastructures.delete("ns1", "k1"), false);
      assert.equal(fake.machines.count, 0);
    });

    it("are reported separately when one can't be created: its status and the cloud's message, while the others run", async () => {
      const { tumblebug, server } = fake;
      const systemMessage = JSON.stringify({ message: "VcpuLimitExceeded: 32 vCPUs" });
      server.faults.addForMachines({ machine: "w-2", effect: { kind: "failed", systemMessage } });
      const made = await tumblebug.infrastructures.create("ns1", {
        name: "k1",
        groups: [group("w-1", 1), group("w-2", 1)],
      });
      assert.deepEqual(
        made.machines.map((each) => [
          each.name,
          each.status,
          each.systemMessage,
          each.publicAddress === undefined,
        ]),
        [
          ["w-1-1", "Running", "", false],
          ["w-2-1", "Failed", "VcpuLimitExceeded: 32 vCPUs", true],
        ],
      );
      assert.match(made.status, /^Partial-Failed:1 \(R:1\/2\)$/);
    });

    it("leave a record when none can be created, which the next creation finds", async () => {
      const { tumblebug, server } = fake;
      server.faults.addForMachines({ machine: ".", effect: { kind: "failed", systemMessage: "no quota" } });
      const desired = { name: "k1", groups: [group("w-1", 2)] };
      const making = tumblebug.infrastructures.create("ns1", desired);
      if (generation === "mcis")
        assert.ok((await making).machines.every(({ status }) => status === "Failed"));
      else await assert.rejects(making, { code: "Refused", remote: /no quota/ });
      await assert.rejects(tumblebug.infrastructures.create("ns1", desired), { code: "AlreadyExists" });
      assert.equal((await tumblebug.infrastructures.read("ns1", "k1"))?.machines.length, 2);
      assert.equal(await tumblebug.infrastructures.delete("ns1", "k1"), true);
    });

    for (const kind of ["lost-reply", "refused"] as const)
      it(`are created once when the connection breaks (${kind})`, async () => {
        const { tumblebug, server, machines } = fake;
        server.faults.add({ method: "POST", path: `${path}$`, times: 1, effect: { kind } });
        const made = await tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 2)] });
        assert.equal(made.machines.length, 2);
        assert.equal(machines.count, 2);
        const more = generation === "mcis" ? "/vm$" : "/node$";
        server.faults.add({ method: "POST", path: more, times: 1, effect: { kind } });
        const grown = await tumblebug.infrastructures.addGroup("ns1", "k1", group("w-1", 1));
        assert.deepEqual(
          grown.machines.map(({ name }) => name),
          ["w-1-1", "w-1-2", "w-1-3"],
        );
        assert.equal(machines.count, 3);
      });

    it("are found while they are still being created, after a lost response", async () => {
      const { tumblebug, server } = fake;
      server.faults.addForMachines({ machine: ".", effect: { kind: "stuck-creating" } });
      server.faults.add({ method: "POST", path: `${path}$`, times: 1, effect: { kind: "lost-reply" } });
      const made = await tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 1)] });
      assert.deepEqual(
        made.machines.map((each) => [each.status, each.targetAction]),
        [["Creating", "Create"]],
      );
      await assert.rejects(tumblebug.infrastructures.terminate("ns1", "k1"), {
        code: "NotAllowedNow",
      });
      await tumblebug.infrastructures.terminate("ns1", "k1", { force: true });
    });

    it("have no address until the server reports it", async () => {
      const { tumblebug, server } = fake;
      server.faults.addForMachines({ machine: "w-1", effect: { kind: "late-address", milliseconds: 100 } });
      server.faults.addForMachines({ machine: "w-2", effect: { kind: "no-private-address" } });
      const groups = [group("w-1", 1), group("w-2", 1)];
      const made = await tumblebug.infrastructures.create("ns1", { name: "k1", groups });
      assert.equal(made.machines[0]?.publicAddress, undefined);
      assert.equal(made.machines[1]?.privateAddress, undefined);
      await new Promise((resolve) => setTimeout(resolve, 150));
      const later = await tumblebug.infrastructures.readMachine("ns1", "k1", "w-1-1");
      assert.match(later?.publicAddress ?? "", /^203\.0\./);
    });

    it("are deleted one by one, and one that is gone is not an error", async () => {
      const { tumblebug, server, machines } = fake;
      const { infrastructures } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 2)] });
      server.faults.add({ method: "DELETE", times: 1, effect: { kind: "lost-reply" } });
      await infrastructures.deleteMachine("ns1", "k1", "w-1-2");
      assert.equal(await infrastructures.readMachine("ns1", "k1", "w-1-2"), undefined);
      assert.equal(await infrastructures.deleteMachine("ns1", "k1", "w-1-2"), false);
      assert.equal(machines.count, 1);
    });

    it("are refused by name when one can't be deleted", async () => {
      const { tumblebug, server } = fake;
      await tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 1)] });
      const effect = { kind: "status", status: 500, message: "Failed to delete the VM info" } as const;
      server.faults.add({ method: "DELETE", effect });
      await assert.rejects(tumblebug.infrastructures.deleteMachine("ns1", "k1", "w-1-1"), {
        code: "Refused",
        remote: "Failed to delete the VM info",
      });
    });

    it("are terminated once: the request is never repeated without a check", async () => {
      const { tumblebug, server } = fake;
      const { infrastructures } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 1)] });
      server.passed.length = 0;
      server.faults.add({ path: "/control/", times: 1, effect: { kind: "lost-reply" } });
      await infrastructures.terminate("ns1", "k1");
      assert.equal(server.passed.filter((each) => each.path.includes("/control/")).length, 1);
      // again, when all are terminated
      await infrastructures.terminate("ns1", "k1");
      await assert.rejects(infrastructures.terminate("ns1", "none"), { code: "NotFound" });
      assert.equal(await infrastructures.delete("ns1", "k1"), true);
    });

    it("are terminated a second time without an error, whatever the server says about VMs that no longer exist in the cloud", async () => {
      const { tumblebug, server } = fake;
      const { infrastructures } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 1)] });
      const message =
        generation === "mcis"
          ? '[{"message":"[aws:vm:ns1-k1-w-1-1] does not exist!"}\n]'
          : "1/1 node control operations failed; first error: VM w-1-1: VM 'x' does not exist in connection 'aws'";
      const effect = { kind: "status", status: 500, message } as const;
      // while it runs, that is not a success
      server.faults.add({ path: "/control/", times: 1, effect });
      await assert.rejects(infrastructures.terminate("ns1", "k1"), { code: "Refused" });
      await infrastructures.terminate("ns1", "k1");
      server.faults.add({ path: "/control/", times: 1, effect });
      await infrastructures.terminate("ns1", "k1", { force: true });
      assert.equal(await infrastructures.delete("ns1", "k1"), true);
    });

    it("are not treated as deleted because of a message alone, nor by a server that does not know the request", async () => {
      const { tumblebug, server } = fake;
      const { infrastructures } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 1)] });
      for (const [status, message, code] of [
        [500, "cannot find the key /ns/ns1/resources/spec/t1", "NotFound"],
        [400, "Not found [/ns/ns1/other]", "NotFound"],
        [404, "Not Found", "NoSuchRoute"],
      ] as const) {
        server.faults.clear();
        const effect = { kind: "status", status, message } as const;
        server.faults.add({ method: "GET", path: `${path}/k1$`, times: 1, effect });
        await assert.rejects(infrastructures.read("ns1", "k1"), { code });
      }
      assert.notEqual(await infrastructures.read("ns1", "k1"), undefined);
      for (const status of [400, 500]) {
        const effect = { kind: "status", status, message: "Not found [/ns/ns1/none]" } as const;
        server.faults.add({ method: "GET", path: `${path}/none`, times: 1, effect });
        assert.equal(await infrastructures.read("ns1", "none"), undefined);
      }
    });

    it("are waited for when the server gives up on one that is still being terminated", async () => {
      const { tumblebug, server } = fake;
      const { infrastructures } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("w-1", 2)] });
      await infrastructures.terminate("ns1", "k1");
      const effect = { kind: "status", status: 400, message: "Failed to delete the Node info" } as const;
      server.faults.add({ method: "DELETE", times: 2, effect });
      assert.equal(await infrastructures.deleteMachine("ns1", "k1", "w-1-1"), true);
    });

    it("send only printable text to a terminal", async () => {
      const { tumblebug, server } = fake;
      const systemMessage = "quota\u001b]0;owned\u0007 \u202eexceeded\r\nnext: rm";
      server.faults.addForMachines({ machine: "w-1", effect: { kind: "failed", systemMessage } });
      const desired = { name: "k1", groups: [group("w-1", 1)] };
      const failure = await tumblebug.infrastructures.create("ns1", desired).then(
        () => undefined,
        (error: Error) => error.message,
      );
      assert.equal(failure === undefined, generation === "mcis");
      assert.doesNotMatch(failure ?? "", /\p{Cc}|\p{Cf}/u);
      const found = await tumblebug.infrastructures.read("ns1", "k1");
      assert.equal(
        found?.machines[0]?.systemMessage,
        "quota\\u{1b}]0;owned\\u{7} \\u{202e}exceeded next: rm",
      );
    });

    it("are behind a load balancer once, even when the server refuses what is done already", async () => {
      const { tumblebug, server } = fake;
      const { infrastructures, loadBalancers } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("cp", 3)] });
      await loadBalancers.create("ns1", "k1", { group: "cp", port: 16444, targetPort: 6443 });
      const refuse = (method: string, message: string, times = 1) =>
        server.faults.add({
          method,
          path: "/nlb/cp/",
          times,
          effect: { kind: "status", status: 500, message },
        });
      // the first answer is lost, and the repeated request refused
      server.faults.add({ method: "DELETE", path: "/nlb/cp/", times: 1, effect: { kind: "lost-reply" } });
      refuse("DELETE", '{"message":"cp-1 NLB does not have this VM: {x x}!! #### cp-1 NLB has [{y y}]!!"}');
      await loadBalancers.removeMachines("ns1", "k1", "cp", ["cp-1", "cp-2"]);
      assert.deepEqual((await loadBalancers.read("ns1", "k1", "cp"))?.machines, ["cp-3"]);
      refuse("POST", '{"message":"cp-1 NLB already has this VM: {x x}!! #### cp-1 NLB has [{x x}]!!"}');
      await loadBalancers.addMachines("ns1", "k1", "cp", ["cp-3", "cp-1"]);
      assert.deepEqual((await loadBalancers.read("ns1", "k1", "cp"))?.machines, ["cp-3", "cp-1"]);
      // other clouds have other messages: the record decides
      refuse("POST", "TargetAlreadyRegistered");
      await loadBalancers.addMachines("ns1", "k1", "cp", ["cp-1"]);
      refuse("POST", "quota of targets is used up");
      await assert.rejects(loadBalancers.addMachines("ns1", "k1", "cp", ["cp-2"]), { code: "Refused" });
    });

    it("are reached through a load balancer, which really forwards connections", async () => {
      const { tumblebug, server, machines } = fake;
      const target = createServer((socket) => socket.end("hello"));
      target.listen(0, "127.0.0.1");
      await once(target, "listening");
      const { port: targetPort } = target.address() as AddressInfo;
      const { infrastructures, loadBalancers } = tumblebug;
      await infrastructures.create("ns1", { name: "k1", groups: [group("cp", 2)] });
      assert.equal(await loadBalancers.read("ns1", "k1", "cp"), undefined);
      const desired = { group: "cp", port: 16443, targetPort };
      server.faults.add({ method: "POST", path: "/nlb$", times: 1, effect: { kind: "lost-reply" } });
      const made = await loadBalancers.create("ns1", "k1", desired);
      assert.deepEqual(made.machines, ["cp-1", "cp-2"]);
      await assert.rejects(loadBalancers.create("ns1", "k1", desired), { code: "AlreadyExists" });
      await loadBalancers.removeMachines("ns1", "k1", "cp", ["cp-1"]);
      assert.deepEqual((await loadBalancers.read("ns1", "k1", "cp"))?.machines, ["cp-2"]);
      await loadBalancers.addMachines("ns1", "k1", "cp", ["cp-1", "cp-2"]);
      // behind the VMs' addresses is one listener of this machine
      for (const { machine } of server.state.machines()) machine.privateAddress = "127.0.0.1";
      const socket = connect(16443, made.address);
      const [data] = (await once(socket, "data")) as [Buffer];
      assert.equal(data.toString(), "hello");
      socket.destroy();
      assert.equal(await loadBalancers.delete("ns1", "k1", "cp"), true);
      assert.equal(await loadBalancers.delete("ns1", "k1", "cp"), false);
      target.close();
      assert.equal(machines.count, 2);
    });

    it("are deleted with a load balancer that can't be created: the cloud's message says why", async () => {
      const { tumblebug, server } = fake;
      await tumblebug.infrastructures.create("ns1", { name: "k1", groups: [group("cp", 1)] });
      const message = JSON.stringify({ message: "no public address is left" });
      server.faults.add({ method: "POST", path: "/nlb$", effect: { kind: "status", status: 500, message } });
      await assert.rejects(
        tumblebug.loadBalancers.create("ns1", "k1", {
          group: "cp",
          port: 6443,
          targetPort: 6443,
        }),
        { code: "Refused", remote: "no public address is left" },
      );
    });
  });
