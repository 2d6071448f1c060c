import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { awaitUrl, nodesReadyOf } from "../../../../cli/fleet/run/gate-probes";
import { checkGate } from "../../../../cli/fleet/run/gates";
import type { Fleet, Gate } from "../../../../cli/fleet/plan/fleet";
import { type GatePart, keptParts, notReady, openParts } from "../../../../cli/fleet/plan/gate";
import { FetchedKubeconfig } from "../../../../lib/kubernetes";
import { TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";

const GATE: Gate = { approval: false, commandSeconds: 10 };
const ALL: Gate = { ...GATE, soakSeconds: 1, nodesReady: true, url: "http://127.0.0.1/", command: ["true"] };

describe("the gate after a wave", () => {
  it("has its parts in an order, and only those that have not passed are left", () => {
    const cases: [gate: Gate, passed: GatePart[], open: GatePart[]][] = [
      [GATE, [], []],
      [ALL, [], ["soak", "nodesReady", "url", "command"]],
      [ALL, ["soak", "url"], ["nodesReady", "command"]],
      [{ ...ALL, nodesReady: false }, ["command"], ["soak", "url"]],
    ];
    for (const [gate, passed, open] of cases) assert.deepEqual(openParts(gate, passed), open);
  });

  it("keeps what passed, unless a stack of its wave will run again", () => {
    const waves = [
      { name: "one", stacks: ["a", "b"] },
      { name: "two", stacks: ["c"] },
    ];
    const fleet: Fleet = { maxParallel: 1, onFailure: "continue", waves };
    const stacks = { a: "done", b: "failed", c: "done" } as const;
    const passed = { one: ["soak"], two: ["soak", "command"], gone: ["url"] } as const;
    assert.deepEqual(keptParts(fleet, { stacks, gates: {} }, passed), { two: ["soak", "command"] });
  });

  it("does not repeat a part when the approval comes later, and keeps each part at once", async () => {
    const gate: Gate = { ...GATE, command: [process.execPath, "-e", "process.exit(0)"], approval: true };
    const check = async (passed: readonly GatePart[], approved: string[], command = gate.command) => {
      const lines: string[] = [];
      const kept: GatePart[] = [];
      const end = await checkGate(
        { name: "canary", stacks: ["a"], gate: { ...gate, command } },
        {
          ...{ project: { folder: tmpdir(), name: "test" }, approved, passed },
          keep: (part) => Promise.resolve(void kept.push(part)),
          ...{ signal: new AbortController().signal, say: (line) => void lines.push(line) },
        },
      );
      return { end, kept, lines };
    };
    const waiting = await check([], []);
    assert.deepEqual([waiting.end, waiting.kept], ["waiting", ["command"]]);
    const later = await check(waiting.kept, ["canary"]);
    assert.deepEqual([later.end, later.kept, later.lines], ["passed", [], ["gate of canary: passed"]]);
    const failing = [process.execPath, "-e", "console.error('not\\u001b[31m yet'); process.exit(3)"];
    const failed = await check([], ["canary"], failing);
    assert.deepEqual([failed.end, failed.kept], ["failed", []]);
    assert.equal(failed.lines.at(-1), "gate of canary: failed: exit code 3: not yet");
  });
});

describe("the URL of a gate", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());
  const serve = async (listener: RequestListener): Promise<string> => {
    const opened = (server = createServer(listener));
    await new Promise<void>((resolve) => opened.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(opened.address() as AddressInfo).port}/health`;
  };

  it("passes with a status 2xx, also when it comes only later", async () => {
    let calls = 0;
    const url = await serve((_, response) => void response.writeHead((calls += 1) < 2 ? 503 : 204).end());
    await awaitUrl(url, 30);
    assert.equal(calls, 2);
  });

  const refused: [what: string, listener: RequestListener, said: RegExp][] = [
    ["another status", (_, response) => void response.writeHead(404).end(), /last seen: status 404$/],
    [
      "a redirect, which is not followed",
      (request, response) =>
        void response.writeHead(request.url === "/health" ? 302 : 200, { Location: "/other" }).end(),
      /last seen: status 302; write the URL to which it redirects$/,
    ],
    [
      "an endless response",
      (_, response) => void response.writeHead(200).end(Buffer.alloc(2 * 2 ** 20)),
      /last seen: .* is larger than 1 MiB$/,
    ],
    ["no response", () => undefined, /last seen: (nothing yet|no answer within 3 s)$/],
  ];
  for (const [what, listener, said] of refused)
    it(`does not pass with ${what}`, async () => {
      const url = await serve(listener);
      await assert.rejects(awaitUrl(url, 3), said);
      server?.closeAllConnections();
    });
});

describe("the nodes of a gate", () => {
  const folder = mkdtempSync(join(tmpdir(), "foresail-gate-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  before(() => server.listen());
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const node = (name: string, ready: string) => ({
    metadata: { name },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });

  it("are not ready without the condition, or when it is not known", () => {
    const nodes = [node("a", "True"), node("b", "False"), node("c", "Unknown"), { metadata: { name: "d" } }];
    assert.deepEqual(notReady(nodes), ["b", "c", "d"]);
  });

  it("are awaited until all are Ready; a timeout names those that are not", async () => {
    const kubeconfig = new FetchedKubeconfig("output kubeconfig of eu1", kubeconfigOf(authority, [server]));
    const put = (name: string, ready: string) =>
      server.store.put(`/api/v1/nodes/${name}`, { apiVersion: "v1", kind: "Node", ...node(name, ready) });
    await assert.rejects(
      nodesReadyOf("eu1", kubeconfig, 3),
      /the nodes of eu1; last seen: there is no node$/,
    );
    put("w-1", "True");
    put("w-2", "False");
    await assert.rejects(nodesReadyOf("eu1", kubeconfig, 3), /last seen: 1 of 2 nodes not Ready: w-2$/);
    const waiting = nodesReadyOf("eu1", kubeconfig, 30);
    put("w-2", "True");
    await waiting;
  });
});
