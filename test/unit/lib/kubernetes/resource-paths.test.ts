import assert from "node:assert/strict";
import { KindNotServed, KubernetesError } from "../../../../lib/kubernetes";
import { ResourcePaths } from "../../../../lib/kubernetes/resource-paths";

const kind = (name: string, kindName: string) => ({ name, kind: kindName, namespaced: true });

/** What the API's discovery answers: a group that is served in two versions, one kind in the newer one alone. */
const ANSWERS: Record<string, object> = {
  "/apis/example.org": {
    versions: [{ groupVersion: "example.org/v2" }, { groupVersion: "example.org/v1" }],
  },
  "/apis/example.org/v1": { resources: [kind("pools", "Pool"), kind("pools/status", "Pool")] },
  "/apis/example.org/v2": { resources: [kind("pools", "Pool"), kind("machines", "Machine")] },
};

const paths = () =>
  new ResourcePaths((path) => {
    const answer = ANSWERS[path];
    return answer === undefined
      ? Promise.reject(new KubernetesError(404, "NotFound", "not found", `GET ${path}`))
      : Promise.resolve(answer);
  });

describe("the versions in which an API serves a kind", () => {
  const table: [group: string, kind: string, versions: string[]][] = [
    ["example.org", "Pool", ["example.org/v2", "example.org/v1"]],
    ["example.org", "Machine", ["example.org/v2"]],
    ["example.org", "Server", []],
    ["unknown.example", "Pool", []],
  ];
  for (const [group, name, versions] of table)
    it(`are ${versions.join(" and ") || "none"} for ${name} of ${group}`, async () => {
      assert.deepEqual(await paths().versionsOf(group, name), versions);
    });

  it("are named by the error for another version", async () => {
    const notServed = paths().ofKind({ apiVersion: "example.org/v1", kind: "Machine" });
    await assert.rejects(notServed, new KindNotServed("example.org/v1", "Machine"));
    assert.equal(
      new KindNotServed("example.org/v1", "Machine", ["example.org/v2"]).message,
      "the cluster has no kind Machine in example.org/v1, only in example.org/v2",
    );
  });
});
