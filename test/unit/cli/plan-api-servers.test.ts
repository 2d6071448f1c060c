import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { apiServersOf, namesItsAuthority } from "../../../cli/forecast/api-servers";
import { readForecastFacts } from "../../../cli/forecast/facts";
import type { PodParts } from "../../../lib/kubernetes/drain/plan";
import { TestAuthority } from "../../support/certificates";
import { kubeconfigOf, TestKubernetesServer, TestStore } from "../../support/kubernetes-server";

const LABELS = { "node-role.kubernetes.io/control-plane": "" };
const plane = (name: string, address?: string) => ({
  metadata: { name, labels: LABELS },
  status: { addresses: address ? [{ type: "InternalIP", address }] : [] },
});
const serverPod = (node: string, endpoint: string, name = `kube-apiserver-${node}`): PodParts => ({
  metadata: {
    name,
    namespace: "kube-system",
    annotations: {
      "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": endpoint,
      "kubernetes.io/config.mirror": "x",
    },
  },
});
const metric = (resource: string) =>
  `apiserver_requested_deprecated_apis{group="g",removed_release="1.36",resource="${resource}",subresource="",version="v1beta1"} 1`;

describe("addresses of a cluster's API servers", () => {
  it("are those that kubeadm recorded, else the nodes' own with kubeadm's port", () => {
    const nodes = [plane("cp-1", "10.0.0.1"), plane("cp-2", "10.0.0.2"), plane("cp-3", "fd00::3")];
    const worker = { metadata: { name: "w-1", labels: {} } };
    const pods = [serverPod("cp-2", "10.9.0.2:7443")];
    assert.deepEqual(apiServersOf([...nodes, worker], pods), [
      { node: "cp-1", address: "https://10.0.0.1:6443" },
      { node: "cp-2", address: "https://10.9.0.2:7443" },
      { node: "cp-3", address: "https://[fd00::3]:6443" },
    ]);
  });

  for (const text of ["evil.example:443", "10.0.0.1:99999", "10.0.0.1:443/path", "me@10.0.0.1:443", ""])
    it(`are never taken from ${JSON.stringify(text)}`, () => {
      assert.deepEqual(apiServersOf([plane("cp-1")], [serverPod("cp-1", text)]), [{ node: "cp-1" }]);
    });

  it("are not taken from a pod of another name or namespace", () => {
    const other = serverPod("cp-1", "10.0.0.9:6443", "kube-apiserver-cp-1-x");
    const tenant = { metadata: { ...serverPod("cp-1", "10.0.0.9:6443").metadata, namespace: "shop" } };
    assert.deepEqual(apiServersOf([plane("cp-1")], [other, tenant]), [{ node: "cp-1" }]);
  });
});

describe("the credentials of a kubeconfig", () => {
  const server = "https://10.0.0.1:6443";
  const cases: [what: string, cluster: Parameters<typeof namesItsAuthority>[0], expected: boolean][] = [
    ["inline authority", { server, "certificate-authority-data": "QUJD" }, true],
    ["authority in a file", { server, "certificate-authority": "/etc/kubernetes/pki/ca.crt" }, true],
    ["public authorities alone", { server }, false],
    ["empty authority", { server, "certificate-authority-data": "" }, false],
    [
      "unverified server",
      { server, "certificate-authority-data": "QUJD", "insecure-skip-tls-verify": true },
      false,
    ],
    ["server without TLS", { server: "http://10.0.0.1", "certificate-authority-data": "QUJD" }, false],
    ["server that is not an address", { server: "10.0.0.1", "certificate-authority-data": "QUJD" }, false],
  ];
  for (const [what, cluster, expected] of cases)
    it(`${expected ? "may" : "may not"} be sent to further API servers with: ${what}`, () => {
      assert.equal(namesItsAuthority(cluster), expected);
    });
});

describe("metrics of several API servers", function () {
  this.timeout(30_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-servers-"));
  const authority = new TestAuthority(folder);
  const stranger = new TestAuthority(mkdtempSync(path.join(folder, "other-")));
  const store = new TestStore();
  const servers: TestKubernetesServer[] = [];
  /** what a server got besides the choice of a healthy one */
  const asked = ({ calls }: TestKubernetesServer) => calls.filter((call) => call !== "GET /readyz");

  async function serve(resource: string, by = authority): Promise<TestKubernetesServer> {
    const certificate = by.issue(`server-${servers.length}`, "/CN=server", ["IP:127.0.0.1"]);
    const server = await new TestKubernetesServer(certificate, store).listen();
    server.intercept = (call) => {
      if (call === "GET /metrics") return { status: 200, text: metric(resource) };
      if (call === "GET /version") return { status: 200, text: '{"gitVersion":"v1.35.4"}' };
      return undefined;
    };
    servers.push(server);
    return server;
  }
  const readAll = (through: TestKubernetesServer, change = (text: string) => text) =>
    readForecastFacts({ kubeconfig: change(kubeconfigOf(authority, [through])), context: "x" }, 5);
  function haveControlPlanes(planes: Record<string, TestKubernetesServer | undefined>): void {
    store.objects.clear();
    const base = "/api/v1/namespaces/kube-system";
    store.put(`${base}/configmaps/kubeadm-config`, { data: {} });
    for (const [node, server] of Object.entries(planes)) {
      store.put(`/api/v1/nodes/${node}`, { ...plane(node), apiVersion: "v1", kind: "Node" });
      if (server === undefined) continue;
      const pod = serverPod(node, `127.0.0.1:${server.port}`);
      store.put(`${base}/pods/kube-apiserver-${node}`, { ...pod, apiVersion: "v1", kind: "Pod" } as never);
    }
  }

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  after(() => rmSync(folder, { recursive: true }));

  it("are read from each of them, once each", async () => {
    const [one, two, three] = [await serve("ones"), await serve("twos"), await serve("threes")];
    haveControlPlanes({ "cp-1": one, "cp-2": two, "cp-3": three });
    const { metrics, unaskedServers, serverVersion } = await readAll(one);
    assert.deepEqual(metrics?.split("\n").sort(), [metric("ones"), metric("threes"), metric("twos")]);
    assert.deepEqual([unaskedServers, serverVersion], [[], "1.35.4"]);
    assert.equal(asked(one).filter((call) => call === "GET /metrics").length, 1);
    assert.deepEqual([...new Set(asked(two))], ["GET /version", "GET /metrics"]);
  });

  it("name the servers that can't be reached, that refuse, or whose address is unknown", async () => {
    const [one, two, three] = [await serve("ones"), await serve("twos"), await serve("threes")];
    await two.close();
    three.intercept = () => ({ status: 403, reason: "Forbidden", message: "no" });
    haveControlPlanes({ "cp-1": one, "cp-2": one, "cp-3": three, "cp-4": undefined });
    store.objects.delete("/api/v1/namespaces/kube-system/pods/kube-apiserver-cp-2");
    const pod = serverPod("cp-2", `127.0.0.1:1`);
    store.put("/api/v1/namespaces/kube-system/pods/kube-apiserver-cp-2", { ...pod, kind: "Pod" } as never);
    const { metrics, unaskedServers } = await readAll(one);
    assert.equal(metrics, metric("ones"));
    assert.deepEqual(unaskedServers, [
      "cp-2 (https://127.0.0.1:1)",
      `cp-3 (https://127.0.0.1:${three.port})`,
      "cp-4 (its address is unknown)",
    ]);
  });

  it("send credentials to no server that the kubeconfig's authority did not sign", async () => {
    const [one, strange] = [await serve("ones"), await serve("twos", stranger)];
    haveControlPlanes({ "cp-1": one, "cp-2": strange });
    const address = `https://127.0.0.1:${strange.port}`;
    assert.deepEqual((await readAll(one)).unaskedServers, [`cp-2 (${address})`]);
    assert.deepEqual(strange.calls, []);
    // without verification, servers can't be told apart
    const unverified = (text: string) =>
      text.replace(/"certificate-authority-data":"[^"]*"/, '"insecure-skip-tls-verify":true');
    assert.deepEqual((await readAll(one, unverified)).unaskedServers, [`cp-2 (${address})`]);
    assert.deepEqual(strange.calls, []);
  });
});
