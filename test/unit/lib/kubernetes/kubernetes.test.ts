import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import {
  DrainRefused,
  drainNode,
  KubernetesClient,
  KubernetesError,
  KubernetesUnreachable,
  type Node,
} from "../../../../lib/kubernetes";
import { WaitTimeout } from "../../../../lib/wait";
import { type Certificate, TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer, TestStore } from "../../../support/kubernetes-server";

const node = (name: string, ready = "True") => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  status: { conditions: [{ type: "Ready", status: ready }] },
});

describe("KubernetesClient", () => {
  let folder: string;
  let authority: TestAuthority;
  let certificate: Certificate;
  let store: TestStore;
  let server: TestKubernetesServer;
  let spare: TestKubernetesServer;
  const closing: (() => void)[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "foresail-test-"));
    authority = new TestAuthority(folder);
    certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    store = new TestStore();
    server = await new TestKubernetesServer(certificate, store).listen();
    spare = await new TestKubernetesServer(certificate, store).listen();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) close();
    await server.close();
    await spare.close();
  });

  async function connect(servers = [server], callSeconds = 5, readsOnly = false): Promise<KubernetesClient> {
    const access = { kubeconfig: kubeconfigOf(authority, servers) };
    const options = { seconds: 5, userAgent: "foresail/0 test", callSeconds, readsOnly };
    const client = await KubernetesClient.connect(access, options);
    closing.push(() => client.close());
    return client;
  }

  it("gets, creates, applies, patches, lists and deletes objects, and says who it is", async () => {
    const client = await connect();
    const ref = { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name: "c" };
    assert.equal(await client.get(ref), undefined);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "kube-system" } };
    await client.create({ ...object, data: { a: "1" } });
    await client.apply({ ...object, data: { b: "2" } });
    assert.deepEqual((await client.mergePatch(ref, { data: { a: null } })).data, { b: "2" });
    assert.equal((await client.list({ apiVersion: "v1", kind: "ConfigMap" })).length, 1);
    assert.equal(await client.delete(ref), true);
    assert.equal(await client.delete(ref), false);
    assert.deepEqual([...server.userAgents], ["foresail/0 test"]);
  });

  it("checks the server once before it reads, and accepts one that is not ready when it only reads", async () => {
    server.intercept = (call) => (call === "GET /readyz" ? { status: 500, text: "not ready" } : undefined);
    await (await connect([server], 5, true)).listNodes();
    assert.deepEqual(server.calls, ["GET /api/v1/nodes", "GET /api/v1/nodes"]);
    await assert.rejects(
      KubernetesClient.connect({ kubeconfig: kubeconfigOf(authority, [server]) }, { seconds: 0.5 }),
      (error) => error instanceof KubernetesUnreachable,
    );
  });

  it("reads through the first API server, and asks the others when that one does not answer at once", async () => {
    for (const asked of [1, 2]) {
      await connect([server, spare], 5, true);
      assert.deepEqual([server.calls.length, spare.calls.length], [asked, asked - 1]);
      server.intercept = () => "hang";
    }
  });

  it("finds the path of an unknown kind by discovery", async () => {
    store.put("/apis/x.io/v1", { resources: [{ name: "boxes", kind: "Box", namespaced: true }] });
    store.put("/apis/x.io/v1/namespaces/default/boxes/b", { metadata: { name: "b" } });
    const client = await connect();
    assert.ok(await client.get({ apiVersion: "x.io/v1", kind: "Box", name: "b" }));
    await assert.rejects(
      client.get({ apiVersion: "x.io/v1", kind: "Bag", name: "b" }),
      /no kind Bag in x\.io\/v1/,
    );
  });

  it("puts status, reason, message and path into the error", async () => {
    const client = await connect();
    server.intercept = (call) =>
      call.startsWith("PATCH") ? { status: 403, reason: "Forbidden", message: "u may not" } : undefined;
    const patching = client.mergePatch({ apiVersion: "v1", kind: "Node", name: "w" }, {});
    await assert.rejects(patching, (error: KubernetesError) => {
      assert.deepEqual([error.status, error.reason, error.path], [403, "Forbidden", "PATCH /api/v1/nodes/w"]);
      assert.match(error.message, /u may not\. Give the kubeconfig's user this right/);
      return true;
    });
  });

  it("names only the failed checks of an API server that is not ready yet", async () => {
    const text = "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n";
    server.intercept = (call) => (call === "GET /readyz" ? { status: 500, text } : undefined);
    const access = { kubeconfig: kubeconfigOf(authority, [server]) };
    await assert.rejects(KubernetesClient.connect(access, { seconds: 0.5 }), (error: Error) => {
      assert.match(error.message, /\[-\]etcd failed: reason withheld/);
      assert.doesNotMatch(error.message, /ping|log ok|\n.*\[/);
      return true;
    });
  });

  it("uses the first healthy API server, and another when that one dies", async () => {
    server.intercept = () => "hang";
    const client = await connect([server, spare]);
    store.put("/api/v1/nodes/w", node("w"));
    server.intercept = () => undefined;
    await spare.close();
    assert.equal((await client.listNodes()).length, 1);
  });

  it("waits while a starting API server refuses resources that it has not loaded yet", async () => {
    let refusals = 2;
    server.intercept = (call) =>
      call === "GET /api/v1/nodes" && refusals-- > 0 ? { status: 403, reason: "Forbidden" } : undefined;
    await connect();
    assert.ok(refusals < 0);
  });

  it("names the servers and the last reason when none answers", async () => {
    const { port } = server;
    await server.close();
    const opening = KubernetesClient.connect(
      { kubeconfig: kubeconfigOf(authority, [{ port }]) },
      { seconds: 0.5 },
    );
    await assert.rejects(opening, (error: KubernetesUnreachable) => {
      assert.ok(error instanceof KubernetesUnreachable);
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}.*connection refused`));
      return true;
    });
  });

  it("fails at once when the server's certificate is not the cluster's", async () => {
    const other = new TestAuthority(mkdtempSync(join(folder, "other-")));
    const opening = KubernetesClient.connect({ kubeconfig: kubeconfigOf(other, [server]) }, { seconds: 60 });
    await assert.rejects(opening, /can be trusted.*may have been created again/);
  });

  it("reports an invalid kubeconfig without its content", async () => {
    const connecting = KubernetesClient.connect({ kubeconfig: "token: hidden" }, { seconds: 1 });
    await assert.rejects(
      connecting,
      (error: Error) => /has no clusters/.test(error.message) && !/hidden/.test(error.message),
    );
  });

  it("repeats a creation whose response was lost until the deadline, and says that its outcome is unknown", async () => {
    const client = await connect([server], 1);
    server.intercept = (call) => (call.startsWith("POST") ? "drop" : undefined);
    const creating = client.create({ apiVersion: "v1", kind: "Node", metadata: { name: "w" } });
    await assert.rejects(creating, (error: KubernetesUnreachable) => error.outcomeUnknown);
    assert.ok(server.calls.filter((call) => call.startsWith("POST")).length > 1);
  });

  it("repeats a read that failed for a moment", async () => {
    const client = await connect();
    let faults = 2;
    server.intercept = (call) =>
      call === "GET /api/v1/nodes" && faults-- > 0
        ? { status: 500, message: "etcdserver: leader changed" }
        : undefined;
    assert.deepEqual(await client.listNodes(), []);
  });

  describe("watching", () => {
    const ready = (wanted: number) => (nodes: Node[]) => {
      const count = nodes.filter(({ status }) => status?.conditions?.[0]?.status === "True").length;
      return count >= wanted ? { done: count } : { pending: `${count} of ${wanted} ready` };
    };
    const what = { what: "nodes", apiVersion: "v1", kind: "Node", seconds: 5 };
    const watches = () => [...server.calls, ...spare.calls].filter((call) => call.startsWith("WATCH")).length;
    const untilWatched = async (count: number) => {
      while (watches() < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };

    it("ends with the events of a watch, without listing again", async () => {
      store.put("/api/v1/nodes/w-1", node("w-1"));
      const client = await connect();
      const lines: string[] = [];
      const waiting = client.watchUntil<number, Node>({
        ...what,
        decide: ready(2),
        progress: (line) => lines.push(line),
      });
      await untilWatched(1);
      store.put("/api/v1/nodes/w-2", node("w-2", "False"));
      store.put("/api/v1/nodes/w-2", node("w-2"));
      assert.equal(await waiting, 2);
      assert.equal(server.calls.filter((call) => call === "GET /api/v1/nodes").length, 2);
      assert.deepEqual(lines, ["waiting for nodes, last saw 1 of 2 ready, 5 s left"]);
    });

    it("watches one object, which may not be there yet", async () => {
      const client = await connect();
      const waiting = client.watchUntil<string>({
        ...what,
        name: "w-1",
        decide: ([found]) => (found ? { done: "there" } : { pending: "not there" }),
      });
      await untilWatched(1);
      store.put("/api/v1/nodes/w-2", node("w-2"));
      store.put("/api/v1/nodes/w-1", node("w-1"));
      assert.equal(await waiting, "there");
    });

    it("lists again when the resource version has expired", async () => {
      const client = await connect();
      store.oldest = 1000;
      const waiting = client.watchUntil<number, Node>({ ...what, decide: ready(1) });
      await untilWatched(2);
      // only a new list gives a version from which the server can continue
      store.version = 1500;
      store.put("/api/v1/nodes/w-1", node("w-1"));
      assert.equal(await waiting, 1);
    });

    it("continues with another API server from the same version", async () => {
      const client = await connect([server, spare]);
      const waiting = client.watchUntil<number, Node>({ ...what, decide: ready(2) });
      await untilWatched(1);
      store.put("/api/v1/nodes/w-1", node("w-1"));
      const [dying] = server.calls.some((call) => call.startsWith("WATCH")) ? [server] : [spare];
      await dying.close();
      store.put("/api/v1/nodes/w-2", node("w-2"));
      assert.equal(await waiting, 2);
    });

    it("fails at the deadline with the last condition, and at once with an error of decide", async () => {
      const client = await connect();
      const waiting = client.watchUntil<number, Node>({ ...what, seconds: 0.3, decide: ready(1) });
      await assert.rejects(waiting, (error: WaitTimeout) => error.lastSeen === "0 of 1 ready");
      const broken = client.watchUntil({
        ...what,
        decide: () => {
          throw new TypeError("bad");
        },
      });
      await assert.rejects(broken, TypeError);
    });
  });

  describe("drainNode", () => {
    const allow = { deleteEmptyDirData: false, force: false, seconds: 4 };
    const pod = (name: string, spec: object = {}, owner: string | undefined = "ReplicaSet") => {
      const ownerReferences = owner ? [{ kind: owner, name: "o", controller: true }] : [];
      const metadata = { name, namespace: "default", ownerReferences };
      store.put(`/api/v1/namespaces/default/pods/${name}`, { metadata, spec: { nodeName: "w-1", ...spec } });
    };
    const evictions = () => server.calls.filter((call) => call.endsWith("/eviction")).length;
    beforeEach(() => void store.put("/api/v1/nodes/w-1", node("w-1")));

    it("cordons, evicts and waits; pods of a DaemonSet stay", async () => {
      pod("web");
      pod("agent", {}, "DaemonSet");
      const client = await connect();
      await drainNode(client, "w-1", allow);
      assert.deepEqual((await client.getNode("w-1"))?.spec, { unschedulable: true });
      assert.deepEqual(
        (await client.listPods()).map(({ metadata }) => metadata?.name),
        ["agent"],
      );
    });

    it("retries while a budget blocks a pod", async () => {
      pod("web");
      let held = 2;
      server.intercept = (call) =>
        call.endsWith("/eviction") && held-- > 0 ? { status: 429, reason: "TooManyRequests" } : undefined;
      await drainNode(await connect(), "w-1", { ...allow, seconds: 10 });
      assert.equal(evictions(), 3);
    });

    it("sends an eviction again when its answer was lost", async () => {
      pod("web");
      pod("api");
      let lost = 2;
      server.intercept = (call) => (call.endsWith("/eviction") && lost-- > 0 ? "drop" : undefined);
      await drainNode(await connect(), "w-1", { ...allow, seconds: 20 });
      assert.equal(evictions(), 4);
      assert.deepEqual(await (await connect()).listPods(), []);
    });

    it("waits for a pod whose namespace is being deleted, and ends at any other refusal", async () => {
      pod("web");
      let refused = 2;
      const forbidden = { status: 403, reason: "Forbidden", message: "no", causes: ["it ends"] };
      server.intercept = (call) =>
        call.endsWith("/eviction") && refused-- > 0
          ? { ...forbidden, causeReason: "NamespaceTerminating" }
          : undefined;
      await drainNode(await connect(), "w-1", { ...allow, seconds: 20 });
      assert.equal(evictions(), 3);
      pod("web");
      server.intercept = (call) => (call.endsWith("/eviction") ? forbidden : undefined);
      await assert.rejects(drainNode(await connect(), "w-1", allow), /403 Forbidden/);
    });

    it("names the pod and the budget that blocked it until the deadline", async () => {
      pod("web");
      const causes = ["The disruption budget web-budget needs 2 healthy pods and has 2 currently"];
      server.intercept = (call) =>
        call.endsWith("/eviction") ? { status: 429, reason: "TooManyRequests", causes } : undefined;
      const draining = drainNode(await connect(), "w-1", { ...allow, seconds: 1 });
      await assert.rejects(draining, /pods of w-1 to be gone.*default\/web .*budget web-budget needs 2/);
    });

    it("changes nothing when a pod may not be evicted, and lists all such pods", async () => {
      pod("web");
      pod("cache", { volumes: [{ name: "tmp", emptyDir: {} }] });
      pod("lone", {}, "");
      await assert.rejects(drainNode(await connect(), "w-1", allow), (error: DrainRefused) => {
        assert.ok(error instanceof DrainRefused);
        assert.equal(error.pods.length, 2);
        assert.match(
          error.message,
          /default\/cache would lose its emptyDir tmp[^]*default\/lone has no controller/,
        );
        return true;
      });
      assert.equal(evictions(), 0);
    });
  });
});
