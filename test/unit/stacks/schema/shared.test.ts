import assert from "node:assert/strict";
import Ajv from "ajv";
import { stringify } from "yaml";
import type { SharedStack } from "../../../../lib/layers/shared-values";
import { generateKey } from "../../../../lib/ssh/generated-key";
import { type ConfigurationReader, loadConfiguration, withShared } from "../../../../stacks/schema";
import { layerJsonSchema, stackFileJsonSchema } from "../../../../scripts/configuration-schema";
import { cloudReader, cluster, OPENSTACK, reader } from "./valid";

const SOURCES = { base: "network/eu1" };
const OUTPUTS = { networkId: "n-1", imageId: "i-1", apiHost: "api.eu1.example.com", workers: 4 };
const stack = (outputs?: Record<string, unknown>, secrets: string[] = []): SharedStack => ({
  stack: "organization/network/eu1",
  ...(outputs && { outputs, secrets }),
});

/** Reads with an answer for each stack. */
const read = async (of: ConfigurationReader, answer = stack(OUTPUTS)) =>
  loadConfiguration(await withShared(of, () => Promise.resolve(answer)));

const failure = (of: ConfigurationReader, answer?: SharedStack): Promise<string> =>
  read(of, answer).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );

const shared = (sources: unknown = SOURCES) => ({ "foresail:shared": JSON.stringify(sources) });
const pools = (over: Record<string, unknown>) =>
  OPENSTACK.pools.map((pool) => (pool.role === "worker" ? { ...pool, ...over } : pool));

describe("configuration: values of other stacks", () => {
  it("fill fields of every type before the validation", async () => {
    const section = {
      ...OPENSTACK,
      network: { id: "${shared.base.networkId}" },
      pools: pools({ image: "${shared.base.imageId}", replicas: "${shared.base.workers}" }),
    };
    const configuration = await read(cloudReader("openstack", section, {}, shared()));
    assert.ok(configuration.system === "openstack");
    assert.equal(configuration.openstack.network.id, "n-1");
    assert.deepEqual(
      configuration.openstack.pools.map(({ image, replicas }) => [image, replicas]),
      [
        ["ubuntu", 1],
        ["i-1", 4],
      ],
    );
  });

  it("are checked as written values are, at their path", async () => {
    const section = { ...OPENSTACK, pools: pools({ replicas: "${shared.base.imageId}" }) };
    assert.equal(
      await failure(cloudReader("openstack", section, {}, shared())),
      'Pulumi.dev.yaml has 1 validation issue; nothing was changed:\n  openstack.pools[1].replicas: is the text "i-1"; write a number',
    );
  });

  it("that do not exist are refused with what the stack offers", async () => {
    const section = { ...OPENSTACK, network: { id: "${shared.base.network}" } };
    assert.match(
      await failure(cloudReader("openstack", section, {}, shared())),
      /^ {2}openstack\.network\.id: .*organization\/network\/eu1 has no output "network"; it has apiHost, imageId, networkId, workers$/m,
    );
  });

  it("of a stack that does not exist are refused at foresail:shared alone", async () => {
    const section = { ...OPENSTACK, network: { id: "${shared.base.networkId}" } };
    assert.equal(
      await failure(cloudReader("openstack", section, {}, shared()), stack()),
      "Pulumi.dev.yaml has 1 validation issue; nothing was changed:\n  shared.base: there is no stack organization/network/eu1; create it first, or correct the name",
    );
  });

  it("come from stacks with valid names, and nothing else is reported then", async () => {
    const said = await failure(
      cloudReader("openstack", OPENSTACK, {}, shared({ "1a": "eu1", base: "a/b/c/d" })),
    );
    assert.match(said, /2 validation issues/);
    assert.match(said, /shared\.base: "a\/b\/c\/d" is not the name of a stack/);
    assert.match(said, /shared\["1a"\]: is not a name for/);
  });

  it("are secret only where the key is", async () => {
    const { private: key } = generateKey();
    const answer = stack({ key, image: "i" }, ["key"]);
    const keyed = { ...shared(), "foresail:sshPrivateKey": "${shared.base.key}" };
    // not encrypted: the file has only the name of the output
    const configuration = await read({ ...reader(cluster(), keyed), isSecret: () => false }, answer);
    assert.ok(configuration.system === "ssh");
    assert.ok(configuration.sshPrivateKey);
    const shown = reader(cluster({ name: "${shared.base.key}" }), shared());
    const said = await failure(shown, answer);
    assert.match(said, /cluster\.name: .*is secret, and previews show this field/);
    assert.doesNotMatch(said, /PRIVATE KEY/);
  });

  it("may be named in a layer, secret keys among them, from the stack that the stack file names", async () => {
    const layer = {
      "foresail:sshPrivateKey": "${shared.base.key}",
      "foresail:cluster": {
        ...cluster(),
        name: "${shared.base.clusterName}",
        version: "${shared.base.none}",
      },
    };
    const layered = (over: Record<string, unknown>): ConfigurationReader => ({
      ...reader(over, { "foresail:layer": "prod", ...shared() }),
      isSecret: () => false,
      readLayer: (name) => ({ file: `layers/${name}.yaml`, text: stringify({ config: layer }) }),
    });
    const answer = stack({ key: generateKey().private, clusterName: "eu1" }, ["key"]);
    // the version of the layer is replaced, so its output is not needed
    const configuration = await read(layered({ version: "1.36.3" }), answer);
    assert.ok(configuration.system === "ssh");
    assert.equal(configuration.cluster.name, "eu1");
    assert.match(
      await failure(layered({}), answer),
      /^layers\/prod\.yaml has 1 validation issue; nothing was changed:\n {2}cluster\.version: .*no output "none"/,
    );
  });

  it("are not asked for without foresail:shared", async () => {
    const plain = reader(cluster());
    const asked = await withShared(plain, () => assert.fail("asked"));
    assert.equal(asked, plain);
  });

  it("are accepted by the schemas for editors, in fields of any type", () => {
    const references = {
      "foresail:system": "openstack",
      "foresail:shared": SOURCES,
      "foresail:sshPrivateKey": "${shared.base.key}",
      "foresail:cluster": { name: "a", version: "1.36.3" },
      "foresail:openstack": { ...OPENSTACK, pools: pools({ replicas: "${shared.base.workers}" }) },
    };
    const written = {
      ...references,
      "foresail:openstack": { ...OPENSTACK, pools: pools({ replicas: "four" }) },
    };
    for (const schema of [stackFileJsonSchema(), layerJsonSchema()]) {
      const validate = new Ajv({ strict: false }).compile(schema);
      assert.ok(validate({ config: references }), JSON.stringify(validate.errors));
      assert.ok(!validate({ config: written }));
    }
  });

  it("need a reader that has read them", () => {
    assert.throws(
      () => loadConfiguration(reader(cluster(), shared())),
      /shared: is not supported by this reader/,
    );
  });

  describe("that are kubeconfigs", () => {
    const kubeconfig = (user: object, cluster: object = {}) =>
      stringify({
        clusters: [{ name: "c", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
        users: [{ name: "u", user }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      });
    const values = {
      "foresail:system": "machine-pool",
      "foresail:machinePool": JSON.stringify({
        name: "pool-a",
        cluster: "demo",
        bootstrap: { dataSecretName: "join" },
        infrastructure: { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "A", spec: {} },
      }),
      ...shared(),
    };
    const pool = (keys: Record<string, string>): ConfigurationReader => ({
      project: "foresail",
      stack: "dev",
      values: { ...values, ...keys },
      isSecret: (key) => key.endsWith("Kubeconfig"),
    });
    const own = kubeconfig({ exec: { command: "login" } }, { "proxy-url": "http://127.0.0.1:3128" });
    const reference = "${shared.base.kubeconfig}";

    it("are read like those that clusters serve: they run no program and use no proxy", async () => {
      const given = { "foresail:managementKubeconfig": reference, "foresail:workloadKubeconfig": reference };
      for (const [user, cluster, why] of [
        [{ exec: { command: "steal" } }, {}, "users[0].user.exec would run a program on this machine"],
        [{ tokenFile: "/etc/shadow" }, {}, "users[0].user.tokenFile would send a file of this machine"],
        [{ as: "admin" }, {}, "users[0].user.as would impersonate another user"],
        [
          {},
          { "proxy-url": "http://evil" },
          "clusters[0].cluster.proxy-url would send the calls through a proxy",
        ],
      ] as const) {
        const outputs = { kubeconfig: kubeconfig(user, cluster) };
        const message = await failure(pool(given), stack(outputs, ["kubeconfig"]));
        for (const key of ["managementKubeconfig", "workloadKubeconfig"])
          assert.ok(
            message.includes(`${key}: \${shared.base.kubeconfig} has a kubeconfig that is refused: ${why}`),
            message,
          );
      }
    });

    it("are read so also within a longer text, and the operator's own are not", async () => {
      const outputs = { command: "steal", kubeconfig: kubeconfig({ token: "t" }) };
      const text = kubeconfig({ exec: { command: "${shared.base.command}" } });
      assert.match(
        await failure(pool({ "foresail:managementKubeconfig": text }), stack(outputs, ["kubeconfig"])),
        /managementKubeconfig: .* is refused: users\[0\]\.user\.exec/s,
      );
      await read(
        pool({ "foresail:managementKubeconfig": own, "foresail:workloadKubeconfig": reference }),
        stack(outputs, ["kubeconfig"]),
      );
    });
  });
});
