import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { simulatedChart } from "../../../../sandbox/azimuth/tenancy";

describe("the sandbox's chart of clusters", () => {
  it("names the cluster in the template of a MachineDeployment, too, which Cluster API's webhook compares", () => {
    const text = readFileSync(
      path.join(simulatedChart("openstack-cluster"), "templates", "cluster.yaml"),
      "utf8",
    );
    const [, deployment = ""] = text.split("kind: MachineDeployment");
    const names = [...deployment.matchAll(/^( *)clusterName: (.*)$/gm)].map(([, indent = "", name]) => [
      indent.length,
      name,
    ]);
    assert.deepEqual(names, [
      [2, "{{ $name }}"],
      [6, "{{ $name }}"],
    ]);
  });
});
