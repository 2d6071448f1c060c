import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, it } from "mocha";
import { parse } from "yaml";
import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { KubernetesClient } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import { removeFolder } from "../engine/compiled-clone";
import { untilTrue } from "../engine/azimuth-fixture";
import { TestAuthority } from "../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";
import { SAMPLES } from "./handler-samples";
import { ProviderHost } from "./provider-host";

const CLUSTER_API = "cluster.x-k8s.io/v1beta1";
const HIDDEN = "content-of-a-local-file";

/** A pool whose own status is good, so that only its nodes are left to check. */
const POOL = {
  apiVersion: CLUSTER_API,
  kind: "MachinePool",
  metadata: {
    name: "pool-a",
    namespace: "demo",
    ownerReferences: [{ apiVersion: CLUSTER_API, kind: "Cluster", name: "demo" }],
  },
  spec: { replicas: 0, providerIDList: [], template: { spec: {} } },
  status: { bootstrapReady: true, infrastructureReady: true, replicas: 0, phase: "Running" },
};

describe("a kubeconfig that is read from a cluster", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-fetched-"));
  const trap = path.join(folder, "it-ran");
  const localFile = path.join(folder, "local-file");
  const authority = new TestAuthority(folder);
  const certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
  const management = new TestKubernetesServer(certificate);
  const workload = new TestKubernetesServer(certificate);
  let host: ProviderHost;

  before(async () => {
    writeFileSync(localFile, HIDDEN);
    await management.listen();
    await workload.listen();
    const kinds = (apiVersion: string, ...names: [kind: string, plural: string][]) => {
      const resources = names.map(([kind, name]) => ({ kind, name, namespaced: true }));
      management.store.put(`/apis/${apiVersion}`, { resources });
    };
    for (const { store } of [management, workload]) store.put("/api", {});
    kinds(CLUSTER_API, ["MachinePool", "machinepools"], ["Cluster", "clusters"]);
    kinds(API.azimuth, ["Cluster", "clusters"]);
    kinds(API.identity, ["Platform", "platforms"], ["OIDCClient", "oidcclients"]);
    const record = `/apis/${API.azimuth}/namespaces/az-demo/clusters/demo`;
    management.store.put(record, { metadata: { name: "demo", namespace: "az-demo", uid: "uid-1" } });
    const issuer = { issuerUrl: "https://id.example.com", clientId: "kube-demo" };
    const client = `/apis/${API.identity}/namespaces/az-demo/oidcclients/kube-demo`;
    management.store.put(client, { metadata: { name: "kube-demo", namespace: "az-demo" }, status: issuer });
    kinds(API.addons, ["HelmRelease", "helmreleases"], ["Manifests", "manifests"]);
    management.store.put(`/apis/${CLUSTER_API}/namespaces/demo/machinepools/pool-a`, POOL);
    host = await ProviderHost.inClone();
  });
  afterEach(() => workload.calls.splice(0));
  after(async () => {
    await host?.stop();
    await management.close();
    await workload.close();
    removeFolder(folder);
  });

  /** Writes the Secret of Cluster API: the workload cluster's kubeconfig with another user or cluster. */
  function fetched(user: object, cluster: object = {}): void {
    type Written = { users: { user: object }[]; clusters: { cluster: object }[] };
    const config = parse(kubeconfigOf(authority, [workload])) as Written;
    config.users[0]!.user = user;
    Object.assign(config.clusters[0]!.cluster, cluster);
    const value = Buffer.from(JSON.stringify(config)).toString("base64");
    for (const namespace of ["demo", "az-demo"])
      management.store.put(`/api/v1/namespaces/${namespace}/secrets/demo-kubeconfig`, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "demo-kubeconfig", namespace },
        data: { value },
      });
  }
  const ownKubeconfig = () => kubeconfigOf(authority, [management]);
  const pool = () => ({
    ...SAMPLES["machine-pool/MachinePoolReady"],
    kubeconfig: ownKubeconfig(),
    replicas: 0,
    ready: true,
    phase: "Running",
    counts: { replicas: 0, ready: 0, available: 0, unavailable: 0 },
  });
  const services = () => ({ ...SAMPLES["azimuth/ServiceSync"], kubeconfig: ownKubeconfig() });

  /** What a preview or a run of either system reads from the cluster. */
  const asks: [name: string, ask: () => Promise<unknown>][] = [
    ["the preview of a pool", () => host.check("machine-pool/MachinePoolReady", {}, pool())],
    ["the comparison of a pool", () => host.diff("machine-pool/MachinePoolReady", pool(), pool())],
    ["the refresh of a pool", () => host.read("machine-pool/MachinePoolReady", pool())],
    ["the run of a pool", () => host.update("machine-pool/MachinePoolReady", pool(), pool())],
    ["the preview of Azimuth's services", () => host.diff("azimuth/ServiceSync", services(), services())],
    ["the run of Azimuth's services", () => host.update("azimuth/ServiceSync", services(), services())],
  ];
  const ready = () => ({
    ...SAMPLES["azimuth/ClusterReady"],
    kubeconfig: ownKubeconfig(),
    timeoutSeconds: 5,
  });
  asks.push(
    [
      "the preview of the wait for Azimuth's machines",
      () => host.check("azimuth/ClusterReady", ready(), ready()),
    ],
    ["the wait for Azimuth's machines", () => host.create("azimuth/ClusterReady", ready())],
    ["the refresh of the wait for Azimuth's machines", () => host.read("azimuth/ClusterReady", ready())],
  );
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "sh",
    args: ["-c", `touch ${trap}; echo '{"status":{"token":"t"}}'`],
    interactiveMode: "Never",
  };
  const refusals: [field: string, why: RegExp, write: () => void][] = [
    ["users[0].user.exec", /would run a program on this machine/, () => fetched({ exec })],
    [
      "users[0].user.password",
      /would send a password/,
      () => fetched({ token: "test-token", password: HIDDEN }),
    ],
    ["users[0].user.tokenFile", /would send a file of this machine/, () => fetched({ tokenFile: localFile })],
    [
      "clusters[0].cluster.server",
      /does not use https/,
      () => fetched({ token: HIDDEN }, { server: `http://127.0.0.1:${workload.port}` }),
    ],
  ];

  for (const [ask, call] of asks)
    for (const [field, why, write] of refusals)
      it(`with ${field} is refused by ${ask}, which names the Secret and the field`, async () => {
        write();
        await assert.rejects(call(), (error: Error) => {
          assert.match(error.message, /Secret (az-)?demo\/demo-kubeconfig has a kubeconfig that is refused/);
          assert.ok(error.message.includes(field), error.message);
          assert.match(error.message, why);
          return true;
        });
        assert.equal(existsSync(trap), false, "the program ran");
        assert.deepEqual(workload.calls, [], "the cluster was called");
        assert.equal(host.printed.includes(HIDDEN), false);
      });

  for (const [field, , write] of refusals)
    it(`with ${field} is not given to users by the preview or the run of Azimuth's record`, async () => {
      write();
      const record = { ...SAMPLES["azimuth/RecordPrune"], kubeconfig: ownKubeconfig() };
      management.calls.splice(0);
      await host.diff("azimuth/RecordPrune", record, record);
      await host.update("azimuth/RecordPrune", record, record);
      assert.ok(host.printed.includes(`${field} `), host.printed);
      assert.deepEqual(
        management.calls.filter((call) => !call.startsWith("GET ") && call.includes("/secrets/")),
        [],
        "a Secret was written",
      );
      assert.equal(existsSync(trap), false, "the program ran");
      assert.deepEqual(workload.calls, [], "the cluster was called");
    });

  it("is read by no preview of Zenith's key, and by no wait for the cluster's end", async () => {
    fetched({ exec });
    management.calls.splice(0);
    const kubeconfig = ownKubeconfig();
    await host.check("azimuth/ZenithKeypair", {}, { ...SAMPLES["azimuth/ZenithKeypair"], kubeconfig });
    await host.delete("azimuth/ClusterGone", { ...SAMPLES["azimuth/ClusterGone"], kubeconfig });
    const read = management.calls.filter((call) => call.includes("demo-kubeconfig"));
    assert.deepEqual(read, []);
    assert.equal(existsSync(trap), false, "the program ran");
  });

  it("with exec is refused by the monitor, which continues with the next one", async () => {
    fetched({ exec });
    const client = await KubernetesClient.connect({ kubeconfig: ownKubeconfig() }, { seconds: 10 });
    const end = new AbortController();
    const said: string[] = [];
    const ref = { namespace: "az-demo", cluster: "demo", hasRecord: true };
    const done = monitorServices({
      management: client,
      place: ref,
      signal: end.signal,
      say: (line) => said.push(line),
    });
    const hears = (words: string) =>
      untilTrue(words, () => Promise.resolve(said.some((line) => line.includes(words))));
    try {
      await hears("users[0].user.exec would run a program on this machine");
      assert.equal(existsSync(trap), false, "the program ran");
      fetched({ token: "test-token" });
      await hears("following the services of az-demo/demo");
      // each change of the Secret while the monitor runs is judged again
      for (const [field, , write] of refusals) {
        said.splice(0);
        workload.calls.splice(0);
        write();
        await hears(field);
        assert.equal(existsSync(trap), false, "the program ran");
        assert.equal(said.join().includes(HIDDEN), false);
        // the kubeconfig before it may look for its kind once more; another one would begin with /api
        const others = workload.calls.filter((call) => !call.startsWith("GET /apis/zenith."));
        assert.deepEqual(others, [], "the cluster was called");
      }
      said.splice(0);
      fetched({ token: "test-token" });
      await hears("following the services of az-demo/demo");
    } finally {
      end.abort();
      await done;
      client.close();
    }
  });

  it("with inline data over https is used", async () => {
    fetched({ token: "test-token" });
    await host.diff("machine-pool/MachinePoolReady", pool(), pool());
    assert.ok(workload.calls.includes("GET /api/v1/nodes"), workload.calls.join("\n"));
    workload.calls.splice(0);
    await host.diff("azimuth/ServiceSync", services(), services());
    assert.ok(workload.calls.includes(`GET /apis/${API.zenith}`), workload.calls.join("\n"));
  });
});
