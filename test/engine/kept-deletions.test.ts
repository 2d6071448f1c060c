import assert from "node:assert/strict";
import { KubernetesClient } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { untilGone } from "../../providers/kubernetes/resources/object-waits";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";

const NAMESPACE = { apiVersion: "v1", kind: "Namespace", name: "shop" };
const CONFIG_MAP = { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "kept" };
const API = { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", name: "v1.gone.example.com" };
const service = { namespace: "default", name: "gone", port: 443 };

describe("a deletion on a real API server that something keeps", function () {
  this.timeout(90_000);
  let api: BareApiServer;
  let kubernetes: KubernetesClient;

  before(async function () {
    // the programs may have to be built first
    this.timeout(1_800_000);
    const controllers = ["namespace-controller"];
    api = await new BareApiServer({ programs: await simulationPrograms(), controllers }).start();
    kubernetes = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
  });
  after(async () => {
    kubernetes?.close();
    await api?.stop();
  });

  const work = (progress: (line: string) => void = () => undefined) => ({
    kubernetes,
    signal: new AbortController().signal,
    progress,
  });

  /** Waits for the end of an object, calls `repair` when the words of the wait match, and then awaits its end. */
  async function awaited(ref: typeof NAMESPACE, words: RegExp, repair: () => Promise<void>): Promise<void> {
    const lines: string[] = [];
    const done = untilGone(
      work((line) => void lines.push(line)),
      ref,
      60,
    );
    done.catch(() => undefined);
    await waitFor({
      what: `words like ${words.source}`,
      seconds: 40,
      probe: () =>
        Promise.resolve(
          lines.some((line) => words.test(line)) ? { done: undefined } : { pending: lines.join(" | ") },
        ),
    });
    await repair();
    return done;
  }

  it("names an aggregated API that is down while a Namespace does not end, and ends with it", async () => {
    const { name, ...kind } = API;
    const spec = {
      group: "gone.example.com",
      version: "v1",
      groupPriorityMinimum: 1000,
      versionPriority: 10,
    };
    await kubernetes.create({
      ...kind,
      metadata: { name },
      spec: { ...spec, insecureSkipTLSVerify: true, service },
    });
    await waitFor({
      what: "the aggregated API to count as down",
      seconds: 30,
      probe: async () => {
        type Api = { status?: { conditions?: { type: string; status: string }[] } };
        const found = (await kubernetes.get<Api>(API))?.status?.conditions ?? [];
        return found.some(({ type, status }) => type === "Available" && status === "False")
          ? { done: undefined }
          : { pending: JSON.stringify(found) };
      },
    });
    await kubernetes.create({ ...NAMESPACE, metadata: { name: "shop" } });
    await kubernetes.delete(NAMESPACE);
    await awaited(NAMESPACE, /v1\.gone\.example\.com is down .*ServiceNotFound/, async () => {
      await kubernetes.delete(API);
    });
  });

  it("names a webhook that is down while a finalizer keeps an object, and its own deadline ends the wait", async () => {
    const webhook = {
      ...{ name: "kept.example.com", admissionReviewVersions: ["v1"], sideEffects: "None" },
      ...{ failurePolicy: "Fail", clientConfig: { service } },
      rules: [{ apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["*"], resources: ["*"] }],
    };
    await kubernetes.create({
      ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" },
      metadata: { name: "kept" },
      webhooks: [webhook, { ...webhook, name: "ignored.example.com", failurePolicy: "Ignore" }],
    });
    const { namespace, name, ...kind } = CONFIG_MAP;
    await kubernetes.create({
      ...kind,
      metadata: { namespace, name, finalizers: ["example.com/kept"] },
    });
    await kubernetes.delete(CONFIG_MAP);
    await assert.rejects(untilGone(work(), CONFIG_MAP, 1), (error: Error) => {
      assert.match(error.message, /ConfigMap default\/kept to be gone.*kept by example\.com\/kept/);
      assert.match(
        error.message,
        /webhook kept\.example\.com is down \(the Service default\/gone has no ready endpoint\)/,
      );
      assert.doesNotMatch(error.message, /ignored/);
      return true;
    });
  });
});
