import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { loadConfiguration } from "../../../../stacks/schema";
import { ClusterInput } from "../../../../stacks/schema/cluster";
import { issuesOf } from "./issues";
import { cluster, controlPlane, reader, worker } from "./valid";

describe("configuration: all validation issues at once", () => {
  it("names the stack file first and throws one error that Pulumi prints without a stack trace", () => {
    assert.throws(
      () => loadConfiguration(reader(cluster({ version: "1", name: "" }))),
      (error: Error) => {
        assert.ok(pulumi.RunError.isInstance(error));
        assert.equal(
          error.message.split("\n")[0],
          "Pulumi.dev.yaml has 2 validation issues; nothing was changed:",
        );
        return true;
      },
    );
  });

  it("compares machines although a field of one of them is wrong", () => {
    const machines = [controlPlane({ taints: "x" }), worker({ name: "cp-1", role: "master", pod: 1 })];
    const said = issuesOf(
      reader(cluster({ machines, network: { podSubnet: "10.96.0.0/16" }, versoin: "1.36.3" })),
    );
    assert.deepEqual(said.map((line) => line.split(": ")[0]).sort(), [
      "cluster.machines[0].taints",
      "cluster.machines[1].name",
      "cluster.machines[1].pod",
      "cluster.machines[1].role",
      "cluster.network.podSubnet",
      "cluster.versoin",
    ]);
  });

  it("says that the cluster is missing, or its type when it is not a map", () => {
    const empty = { ...reader(undefined), values: {} };
    assert.deepEqual(issuesOf(empty), [
      "cluster: is missing; stacks/config/Pulumi.example-onprem.yaml shows a complete one",
    ]);
    const fields = Object.keys(ClusterInput.shape);
    const fix = `write a map with the fields ${fields.slice(0, 12).join(", ")} and ${fields.length - 12} more`;
    assert.deepEqual(issuesOf(reader(null)), [`cluster: is empty; ${fix}`]);
    assert.deepEqual(issuesOf({ ...empty, values: { "foresail:cluster": "prod" } }), [
      `cluster: is the text "prod"; ${fix}`,
    ]);
  });

  it("refuses unknown keys and ignores other projects' keys", () => {
    const others = {
      "foresail:clustr": "x",
      "foresail:machines": "[]",
      "aws:region": "x",
      "foresail:system": "shh",
    };
    assert.deepEqual(issuesOf(reader(cluster(), others)), [
      'clustr: is not known; did you mean "cluster"?',
      "machines: is not known here; write it under foresail:cluster",
      'system: "shh" is not a system; did you mean "ssh"?',
    ]);
  });

  it("refuses a cluster that is encrypted, because previews show it", () => {
    const said = issuesOf({ ...reader(cluster()), isSecret: () => true });
    assert.deepEqual(said, [
      "cluster: is encrypted, but it is shown in previews; write it in plain text, and secrets in the keys made for them",
    ]);
  });
});
