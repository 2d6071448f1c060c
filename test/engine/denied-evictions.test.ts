import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { parse, stringify } from "yaml";
import { drainNode, KubernetesClient, KubernetesError, type NewObject, type Pod } from "../../lib/kubernetes";
import { waitFor, WaitTimeout } from "../../lib/wait";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { PlanCluster } from "./plan-cluster";

const ADMISSION = "admissionregistration.k8s.io/v1";
const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods/eviction"] };
const ALLOW = { deleteEmptyDirData: false, force: false };
const TEXT = "the pod will be moved by its operator";
const NODE = "w-1";

/** Denies the eviction of the pod a, as an operator does that moves the pod itself. */
function policyObjects(reason: string): NewObject[] {
  const metadata = { name: "movers" };
  const validation = { expression: "object.metadata.name != 'a'", reason, message: TEXT };
  const matchConstraints = { resourceRules: [RULE] };
  return [
    {
      apiVersion: ADMISSION,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: { failurePolicy: "Fail", matchConstraints, validations: [validation] },
    },
    {
      apiVersion: ADMISSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: "movers", validationActions: ["Deny"] },
    },
  ];
}

/** A webhook whose service does not exist. */
const WEBHOOK: NewObject = {
  apiVersion: ADMISSION,
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "movers" },
  webhooks: [
    {
      name: "evictions.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      timeoutSeconds: 1,
      clientConfig: { service: { namespace: "movers", name: "gone", port: 443 } },
      rules: [RULE],
    },
  ],
};

describe("a drain whose evictions a real API server refuses", function () {
  this.timeout(90_000);
  let api: BareApiServer;
  let client: KubernetesClient;
  let cluster: PlanCluster;
  let made: NewObject[] = [];
  let kubelet: AbortController;

  before(async function () {
    // the programs may have to be built first
    this.timeout(1_800_000);
    const { etcd, kubeApiserver } = await simulationPrograms();
    api = await new BareApiServer({ programs: { etcd, kubeApiserver } }).start();
    client = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    cluster = new PlanCluster(client);
    await cluster.node(NODE, "1.36.3");
    await cluster.namespace("shop");
  });
  after(async () => {
    client?.close();
    await api?.stop();
  });
  afterEach(async () => {
    kubelet.abort();
    await takeBack();
    for (const { metadata } of await client.listPods({ namespace: "shop" }))
      await client.delete(podRef(metadata?.name ?? ""), { gracePeriodSeconds: 0 });
  });

  const podRef = (name: string) => ({ apiVersion: "v1", kind: "Pod", namespace: "shop", name });

  /** Runs three pods, and ends those that are being deleted, as their kubelet does. */
  async function runPods(): Promise<void> {
    for (const name of ["a", "b", "c"]) await cluster.pod(name, NODE, { owner: "ReplicaSet" });
    kubelet = new AbortController();
    const decide = (pods: Pod[]) => {
      for (const { metadata } of pods)
        if (metadata?.deletionTimestamp)
          client
            .delete(podRef(metadata.name ?? ""), { gracePeriodSeconds: 0, uid: metadata.uid })
            .catch(() => undefined);
      return { pending: `${pods.length} pods` };
    };
    const { signal } = kubelet;
    client
      .watchUntil<void, Pod>({ what: "nothing", apiVersion: "v1", kind: "Pod", seconds: 90, decide, signal })
      .catch(() => undefined);
  }

  async function make(objects: NewObject[]): Promise<void> {
    made = objects;
    for (const object of objects) await client.create(object);
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a", namespace: "shop" } };
    const path = "/api/v1/namespaces/shop/pods/a/eviction";
    await waitFor({
      what: "the refusal to apply",
      seconds: 30,
      probe: () =>
        client.call({ method: "POST", path, query: { dryRun: "All" }, body }, false).then(
          () => ({ pending: "the eviction is allowed" }),
          () => ({ done: undefined }),
        ),
    });
  }
  async function takeBack(): Promise<void> {
    for (const { apiVersion, kind, metadata } of made.splice(0).reverse())
      await client.delete({ apiVersion, kind, name: metadata.name });
  }

  const kinds: [string, NewObject[], RegExp][] = [
    ...["Forbidden", "Invalid", "RequestEntityTooLarge"].map((reason): [string, NewObject[], RegExp] => [
      `a policy with the reason ${reason}`,
      policyObjects(reason),
      new RegExp(`shop/a: eviction denied by admission: .*${TEXT}`),
    ]),
    ["a webhook that is down", [WEBHOOK], /shop\/a: eviction failed: .*evictions\.example\.com/],
  ];
  for (const [what, objects, words] of kinds)
    it(`repeats an eviction that is refused by ${what}, says so, and evicts the other pods`, async () => {
      await runPods();
      await make([...objects]);
      const lines: string[] = [];
      const draining = drainNode(client, NODE, {
        ...ALLOW,
        seconds: 60,
        progress: (line) => lines.push(line),
      });
      draining.catch(() => undefined);
      const isWebhook = objects[0] === WEBHOOK;
      await waitFor({
        what: "the refusal in the progress, and the end of the other pods",
        seconds: 30,
        probe: async () => {
          const names = (await client.listPods({ namespace: "shop" })).map(({ metadata }) => metadata?.name);
          const isShown = lines.some((line) => words.test(line));
          const isDone = isShown && (isWebhook || names.join() === "a");
          return isDone ? { done: undefined } : { pending: `${names.join()}: ${lines.at(-1)}` };
        },
      });
      await takeBack();
      await draining;
      assert.deepEqual(await client.listPods({ namespace: "shop" }), []);
    });

  it("ends with the policy's text when the denial lasts until the deadline", async () => {
    await runPods();
    await make(policyObjects("Forbidden"));
    await assert.rejects(drainNode(client, NODE, { ...ALLOW, seconds: 3 }), (error: Error) => {
      assert.ok(error instanceof WaitTimeout, error.message);
      assert.match(error.message, new RegExp(`shop/a: eviction denied by admission: .*${TEXT}`));
      assert.doesNotMatch(error.message, /shop\/b|Give the kubeconfig's user/);
      return true;
    });
  });

  it("ends at once, with the right that is missing, for a user who may not evict pods", async () => {
    await runPods();
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "drainer" },
      rules: [
        { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch"] },
        { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      ],
    };
    const token = await cluster.reader("drainer", role);
    const config = parse(api.kubeconfig()) as object;
    const kubeconfig = stringify({ ...config, users: [{ name: "kubernetes-admin", user: { token } }] });
    const limited = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    try {
      await assert.rejects(drainNode(limited, NODE, { ...ALLOW, seconds: 60 }), (error: Error) => {
        assert.ok(error instanceof KubernetesError, error.message);
        assert.match(error.message, /403 Forbidden: .*pods\/eviction.*Give the kubeconfig's user this right/);
        return true;
      });
    } finally {
      limited.close();
    }
  });
});
