import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { KubernetesClient, KubernetesError, KubernetesUnreachable } from "../../lib/kubernetes";
import { newBootstrapToken } from "../../providers/kubeadm/resources/membership/node-joining";
import { ApiRelay, type PassedRequest, type Refusal } from "../simulation/api-relay";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";

const LEADER_CHANGED = "rpc error: code = Unavailable desc = etcdserver: leader changed";
const REFUSALS: [string, Refusal][] = [
  ["429", { status: 429, reason: "TooManyRequests", message: "too many requests", retryAfterSeconds: 1 }],
  ["a new leader of etcd", { status: 500, reason: "InternalError", message: LEADER_CHANGED }],
  ["a timeout of etcd", { status: 500, reason: "InternalError", message: "etcdserver: request timed out" }],
  ["503", { status: 503, reason: "ServiceUnavailable", message: "the server is currently unable" }],
  ["504", { status: 504, reason: "Timeout", message: "request did not complete within the timeout" }],
];
const MAP = { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name: "writes" };
const mapOf = (data: Record<string, string>) => {
  const { apiVersion, kind, name, namespace } = MAP;
  return { apiVersion, kind, metadata: { name, namespace }, data };
};

describe("writes that a real API server refuses for a moment", function () {
  this.timeout(60_000);
  let api: BareApiServer;
  let relay: ApiRelay;
  let client: KubernetesClient;

  before(async function () {
    // the programs may have to be built first
    this.timeout(1_800_000);
    const { etcd, kubeApiserver } = await simulationPrograms();
    api = await new BareApiServer({ programs: { etcd, kubeApiserver } }).start();
    relay = await ApiRelay.open(api);
    client = await KubernetesClient.connect(
      { kubeconfig: relay.kubeconfig() },
      { seconds: 10, callSeconds: 10 },
    );
  });
  after(async () => {
    client?.close();
    await relay?.close();
    await api?.stop();
  });
  afterEach(async () => {
    relay.refuse = () => undefined;
    relay.lose = () => false;
    await client.delete(MAP);
  });

  /** Returns whether a request is a write, for the first requests only. */
  const firstWrites = (count: number) => {
    let left = count;
    return ({ method, url }: PassedRequest) =>
      method !== "GET" && !url.pathname.includes("/leases/") && left-- > 0;
  };

  for (const [what, refusal] of REFUSALS)
    it(`repeats the bootstrap token of a join, a patch, an apply and a deletion after ${what}`, async () => {
      const { object } = newBootstrapToken("test");
      const writes: [string, () => Promise<unknown>][] = [
        ["create the token", () => client.create(object)],
        ["create", () => client.create(mapOf({ a: "1" }))],
        ["patch", () => client.mergePatch(MAP, { data: { b: "2" } })],
        ["apply", () => client.apply(mapOf({ c: "3" }))],
        ["delete", () => client.delete(MAP)],
      ];
      for (const [name, write] of writes) {
        const isRefused = firstWrites(2);
        const refused = relay.refused;
        relay.refuse = (request) => (isRefused(request) ? refusal : undefined);
        const started = Date.now();
        await write();
        assert.equal(relay.refused - refused, 2, name);
        const least = (refusal.retryAfterSeconds ?? 0) * 2000;
        assert.ok(Date.now() - started >= least, `${name}: repeated before the API server asked for it`);
      }
      assert.equal(await client.get(MAP), undefined);
    });

  it("takes an object for created whose answer was lost, and not the one of another", async () => {
    const { object } = newBootstrapToken("test");
    for (const created of [object, mapOf({ a: "1" })]) {
      relay.lose = firstWrites(1);
      const { metadata } = await client.create(created);
      assert.equal(metadata?.name, created.metadata.name);
    }
    relay.lose = () => false;
    const isRefused = firstWrites(1);
    relay.refuse = (request) => (isRefused(request) ? REFUSALS[1]?.[1] : undefined);
    const exists = (error: unknown) => error instanceof KubernetesError && error.reason === "AlreadyExists";
    await assert.rejects(client.create(mapOf({ a: "another" })), exists);
    assert.deepEqual((await client.get(MAP))?.data, { a: "1" });
  });

  it("says that the API refused, not that none answered, when it lasts until the deadline", async () => {
    relay.refuse = ({ method }) => (method === "POST" ? REFUSALS[0]?.[1] : undefined);
    const impatient = await KubernetesClient.connect(
      { kubeconfig: relay.kubeconfig() },
      { seconds: 10, callSeconds: 2 },
    );
    try {
      await assert.rejects(impatient.create(mapOf({})), (error: KubernetesUnreachable) => {
        assert.match(error.message, /the Kubernetes API refused for 2 s .*429 TooManyRequests/);
        return true;
      });
    } finally {
      impatient.close();
    }
  });

  const FINAL: [string, RegExp][] = [
    ["etcdserver: request is too large", /request is too large$/],
    [
      "rpc error: code = ResourceExhausted desc = etcdserver: mvcc: database space exceeded",
      /database space exceeded\. etcd is full and accepts no writes .*defragment it/,
    ],
  ];
  for (const [message, words] of FINAL)
    it(`ends at once with what to do after "${message}"`, async () => {
      const refused = relay.refused;
      relay.refuse = ({ method }) =>
        method === "POST" ? { status: 500, reason: "InternalError", message } : undefined;
      await assert.rejects(client.create(mapOf({})), words);
      assert.equal(relay.refused - refused, 1);
    });
});
