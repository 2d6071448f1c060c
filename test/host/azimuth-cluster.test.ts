import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { KubernetesClient } from "../../clients/kubernetes";
import { SET_UP_MILLISECONDS } from "../engine/simulated-ground";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { makeClusterObjects } from "./azimuth-objects";
import { ProviderHost } from "./provider-host";

const namespace = "az-demo";

interface Secret {
  data?: Record<string, string>;
}

describe("a cluster through Azimuth, on a real API server", function () {
  this.timeout(90_000);
  let api: BareApiServer;
  let host: ProviderHost;
  let client: KubernetesClient;
  /** of the next start of the API server */
  const apiServerArguments: string[] = [];

  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    const { etcd, kubeApiserver } = await simulationPrograms();
    api = await new BareApiServer({ programs: { etcd, kubeApiserver }, apiServerArguments }).start();
    client = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    await makeClusterObjects(client, { namespace, kubeconfig: api.kubeconfig() });
    host = await ProviderHost.inClone();
  });
  after(async () => {
    await host?.stop();
    client?.close();
    await api?.stop();
  });

  const inputs = (over: object = {}) => ({
    kubeconfig: api.kubeconfig(),
    stack: "foresail/test",
    namespace,
    cluster: "demo",
    ...over,
  });
  const secretRef = (name: string) => ({ apiVersion: "v1", kind: "Secret", namespace, name });
  const read = async (name: string, field: string) =>
    (await client.get<Secret>(secretRef(name)))?.data?.[field] ?? "";

  /** Starts the API server again with the configuration that the chart makes from the key: `data.key` as it is. */
  const encryptWith = async (key: string) => {
    const file = join(api.folder, "enc.yaml");
    const keys = [{ name: "key1", secret: key }];
    const resources = [{ resources: ["secrets"], providers: [{ secretbox: { keys } }, { identity: {} }] }];
    const apiVersion = "apiserver.config.k8s.io/v1";
    writeFileSync(file, JSON.stringify({ apiVersion, kind: "EncryptionConfiguration", resources }));
    apiServerArguments.splice(0, apiServerArguments.length, `--encryption-provider-config=${file}`);
    await api.stopApiServer();
    await api.startApiServer();
  };
  const putEtcdKey = async (key: string, fieldManager = "foresail") => {
    await client.delete(secretRef("demo-etcd-key"));
    const { apiVersion, kind, name } = secretRef("demo-etcd-key");
    await client.apply({ apiVersion, kind, metadata: { name, namespace }, data: { key } }, { fieldManager });
  };
  const etcdKeySteps = async (olds: object = inputs()) =>
    (await host.check("azimuth/EtcdKey", olds, inputs())).inputs;

  it("has an etcd encryption key with which a real API server starts and encrypts", async () => {
    const checked = await etcdKeySteps({});
    assert.deepEqual(checked["steps"], ["make a key in the Secret az-demo/demo-etcd-key"]);
    const { outputs } = await host.create("azimuth/EtcdKey", checked);
    assert.equal(outputs["made"], true);
    const key = await read("demo-etcd-key", "key");
    assert.equal(Buffer.from(key, "base64").length, 32);
    await encryptWith(key);
    const [name, text] = ["encrypted", "a text that nobody may find on the disk"];
    const { apiVersion, kind } = secretRef(name);
    await client.create({ apiVersion, kind, metadata: { name, namespace }, stringData: { text } });
    const stored = await api.etcdValue(`/registry/secrets/${namespace}/${name}`);
    assert.match(stored.toString("latin1"), /^k8s:enc:secretbox:v1:key1:/);
    assert.ok(!stored.includes(text));
    assert.equal(Buffer.from(await read(name, "text"), "base64").toString(), text);
    assert.deepEqual((await etcdKeySteps())["steps"], []);
  });

  it("loses the second encoding of an earlier release's etcd key by a step, and keeps a key of others", async () => {
    const key = await read("demo-etcd-key", "key");
    const twice = Buffer.from(key).toString("base64");
    const old = inputs({ made: true });
    await putEtcdKey(twice);
    const checked = await etcdKeySteps();
    assert.deepEqual(checked["steps"], [
      "remove the second encoding of the key in the Secret az-demo/demo-etcd-key: kube-apiserver takes 32 bytes, not 44",
    ]);
    assert.equal((await host.diff("azimuth/EtcdKey", old, checked)).changes, true);
    assert.equal((await host.update("azimuth/EtcdKey", old, checked))["made"], true);
    assert.equal(await read("demo-etcd-key", "key"), key);
    assert.deepEqual((await etcdKeySteps())["steps"], []);

    const short = Buffer.from("0123456789abcdef").toString("base64");
    for (const theirs of [twice, short]) {
      await putEtcdKey(theirs, "somebody");
      const again = await etcdKeySteps();
      assert.deepEqual(again["steps"], []);
      await host.update("azimuth/EtcdKey", old, again);
      assert.equal(await read("demo-etcd-key", "key"), theirs);
    }
    for (const bytes of [44, 16])
      assert.match(host.printed, new RegExp(`has ${bytes} bytes, and others made it`));
    assert.ok(!host.printed.includes(key) && !host.printed.includes(twice));
  });
});
