import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import {
  FIXED,
  type KubeadmClusterArgs,
  KubeadmClusterFields,
} from "../../../../components/kubeadm/kubeadm-cluster-args";
import { ArgumentReader, withoutDefaults } from "../../../../lib/pulumi/argument-reader";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { ClusterInput } from "../../../../stacks/schema/cluster";
import { machineRules } from "../../../../stacks/schema/cluster-rules";

const later = <T>(value: T) => pulumi.output(Promise.resolve(value));
const valueOf = (output: unknown) =>
  (pulumi.output(output) as unknown as { promise(): Promise<unknown> }).promise();

const machine = { name: "cp-1", role: "control-plane" as const, address: "192.0.2.11" };
const read = (over: object, fields: z.ZodObject = KubeadmClusterFields) =>
  new ArgumentReader(
    fields,
    { version: "1.36.3", machines: [machine], ...over },
    { component: "KubeadmCluster demo", fixed: FIXED, rules: machineRules },
  );
const paths = (reader: ReturnType<typeof read>) => reader.issues.map(({ path }) => formatPath(path));

describe("the arguments of KubeadmCluster", () => {
  it("have every field of a stack file, with its default", () => {
    const { machines, ...written } = ClusterInput.parse({
      name: "demo",
      version: "1.36.3",
      machines: [machine],
    });
    const settings = read({ name: "demo" }).settings as Record<string, unknown>;
    for (const [field, value] of Object.entries(written))
      if (field === "network")
        assert.deepEqual({ ...(value as object), holdNodeAddress: false }, settings[field]);
      else assert.deepEqual(settings[field], value, field);
    assert.deepEqual(settings.machines, machines);
    for (const field of Object.keys(ClusterInput.shape))
      assert.ok(field in KubeadmClusterFields.shape, field);
  });

  it("have a field that is added to the schema, its default and its check, without another edit", async () => {
    const issueOf = (value: string) => (value === "x y" ? "has a space" : undefined);
    const fields = KubeadmClusterFields.extend({
      added: z
        .string()
        .refine((value) => issueOf(value) === undefined, "has a space")
        .default("by default"),
    });
    const added = (over: object) => read(over, fields).settings as { added: unknown };
    assert.equal(added({}).added, "by default");
    assert.deepEqual(paths(read({ added: "x y" }, fields)), ["added"]);
    assert.equal(await valueOf(added({ added: later("a") }).added), "a");
    await assert.rejects(valueOf(added({ added: later("x y") }).added), /\n {2}added: has a space$/);
  });

  it("are refused as in a stack file: an address, and what machines have in common", () => {
    assert.deepEqual(paths(read({ machines: [{ ...machine, address: "x y" }] })), [
      "machines[0].address",
      "machines[0].internalAddress",
    ]);
    const two = [machine, { ...machine, name: "w-1", role: "worker" as const }];
    assert.deepEqual(paths(read({ machines: two })), ["machines[1].address", "machines[1].internalAddress"]);
    assert.deepEqual(paths(read({ podCidr: "10.0.0.0/8" })), ["podCidr"]);
  });

  it("are checked as soon as they are known, with the path of the field", async () => {
    const values: [object, RegExp][] = [
      [{ version: later("1.36") }, /\n {2}version: /],
      [{ network: { podSubnet: later("10.0.0.0/33") } }, /\n {2}network\.podSubnet: /],
      [{ machines: [{ ...machine, address: later("x y") }] }, /\n {2}machines\[0\]\.address: /],
      [{ files: [{ path: "/etc/x", content: "", mode: later("rw") }] }, /\n {2}files\[0\]\.mode: /],
      [{ rollout: { soakSeconds: later(-1) } }, /\n {2}rollout\.soakSeconds: /],
      [{ drain: later({ force: "x" }) }, /\n {2}drain\.force: /],
    ];
    for (const [over, line] of values) {
      const reader = read(over);
      assert.deepEqual(reader.issues, []);
      await assert.rejects(reader.valid, line);
      for (const each of Object.keys(over))
        await assert.rejects(valueOf((reader.settings as Record<string, unknown>)[each]), line);
    }
  });

  it("are checked together when the last of them is known", async () => {
    const same = [
      machine,
      { ...machine, name: "w-1", role: "worker" as const, address: later("192.0.2.11") },
    ];
    const reader = read({ machines: same });
    assert.deepEqual(reader.issues, []);
    await assert.rejects(reader.valid, /\n {2}machines\[1\]\.address: .* of machines\[0\] too/);
    const apart = [
      machine,
      { ...machine, name: "w-1", role: "worker" as const, address: later("192.0.2.12") },
    ];
    assert.equal(await read({ machines: apart }).valid, true);
  });

  it("are not taken for absent before they are known", () => {
    const machines = [{ ...machine, hostKey: later("x") }];
    assert.deepEqual(paths(read({ machines, ssh: { requireHostKeys: true } })), []);
    // in the default block of the pods
    const inside = [{ ...machine, address: "10.244.0.9" }];
    assert.notDeepEqual(paths(read({ machines: inside })), []);
    assert.deepEqual(paths(read({ machines: inside, network: { podSubnet: later("10.9.0.0/16") } })), []);
  });

  it("have plain values where they decide which resources there are", () => {
    assert.deepEqual(paths(read({ machines: [{ ...machine, role: later("worker") }] })), [
      "machines[0].role",
    ]);
    assert.deepEqual(paths(read({ timeouts: { joinSeconds: later(5) } })), ["timeouts.joinSeconds"]);
    assert.deepEqual(paths(read({ endpoint: { loopback: { port: later(5) } } })), ["endpoint.loopback.port"]);
  });

  it("keep a secret out of the message that refuses it", async () => {
    const reader = read({ imageRepository: pulumi.secret("hunter2 hunter2") });
    assert.equal(await reader.valid, true);
    await assert.rejects(valueOf(reader.settings.imageRepository), (error: Error) => {
      assert.match(error.message, /\n {2}imageRepository: is not valid; the value is secret/);
      return !error.message.includes("hunter2");
    });
    assert.deepEqual(paths(read({ registries: { credentials: { "r.example.com": "hunter2" } } })), [
      'registries.credentials["r.example.com"]',
    ]);
  });

  it("have in state the form that was given, without defaults", () => {
    const given = { kubeadm: { initConfiguration: {} }, files: [{ path: "/etc/x", content: "" }] };
    const { kubeadm, files } = read(given).settings;
    assert.deepEqual(withoutDefaults({ kubeadm, files }, given), given);
  });

  it("may be outputs by their types, with the names of a stack file", () => {
    const text = later("x");
    const args: KubeadmClusterArgs = {
      version: text,
      network: { podSubnet: text },
      certificateNames: [text, "*.example.com"],
      caBundle: text,
      machines: [
        { name: "cp-1", role: "control-plane", address: text, certificateName: text, port: later(22) },
      ],
      timeouts: { sshSeconds: 300 },
    };
    assert.ok(args);
  });
});
