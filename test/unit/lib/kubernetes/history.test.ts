import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubernetesClient, recordHistory } from "../../../../lib/kubernetes";
import { withLine } from "../../../../lib/kubernetes/history";
import { isFromBefore } from "../../../../lib/kubernetes/lease-holder";
import { TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";

const PATH = "/api/v1/namespaces/kube-system/configmaps/foresail-history";

describe("the history of a cluster", () => {
  const folder = mkdtempSync(join(tmpdir(), "foresail-test-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  let client: KubernetesClient;
  before(async () => {
    await server.listen();
    client = await KubernetesClient.connect(
      { kubeconfig: kubeconfigOf(authority, [server]) },
      { seconds: 5 },
    );
  });
  after(async () => {
    client.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const lines = () => {
    const { data } = server.store.objects.get(PATH) as unknown as { data: { history: string } };
    return data.history.trimEnd().split("\n");
  };

  it("gets a line for each step, also from two writers at once", async () => {
    const steps = Array.from({ length: 4 }, (_, index) => `w-${index}`);
    await Promise.all(
      steps.map((step) => recordHistory(client, { stack: "demo/prod", step, result: "done", seconds: 83.6 })),
    );
    assert.equal(lines().length, 4);
    for (const step of steps)
      assert.equal(lines().filter((line) => line.endsWith(`demo/prod: ${step}: done, 84 s`)).length, 1);
  });

  it("keeps a failure on its one line", async () => {
    await recordHistory(client, { stack: "demo/prod", step: "w-1", result: "failed:\n  why", seconds: 1 });
    assert.match(lines().at(-1) ?? "", / demo\/prod: w-1: failed: why, 1 s$/);
  });

  it("keeps the last 200 lines", () => {
    let text = "";
    for (let index = 1; index <= 205; index += 1) text = withLine(text, `line ${index}`);
    const kept = text.trimEnd().split("\n");
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, "line 6", "line 205"]);
  });

  it("stays smaller than an object of the API may be, whatever others wrote into it", () => {
    for (const old of ["x".repeat(3 * 2 ** 20), `${"文".repeat(9_000)}\n`.repeat(500)]) {
      const text = withLine(old, "w-1: done");
      assert.ok(Buffer.byteLength(text) < 2 ** 20, `${Buffer.byteLength(text)} bytes`);
      assert.ok(text.endsWith("\nw-1: done\n"));
    }
  });

  it("distinguishes a pause request for an earlier run from one for this run", () => {
    const started = "2026-01-01T10:00:00.000Z";
    assert.equal(isFromBefore("2026-01-01T09:59:59.000Z ann@laptop", started), true);
    assert.equal(isFromBefore("2026-01-01T10:00:01.000Z ann@laptop", started), false);
    assert.equal(isFromBefore("by hand", started), true);
    assert.equal(isFromBefore(undefined, started), false);
  });
});
