import assert from "node:assert/strict";
import type { CloudProviderArgs } from "../../../../components/openstack/openstack-cluster-args";
import { MockedCluster } from "../../components/openstack/mocked-cluster";

const CONTROLLER_MANAGER = "openstack-cloud-controller-manager";
const CINDER = "openstack-cinder-csi";

interface ChartInputs {
  readonly chart: string;
  readonly version: string;
  readonly repositoryOpts?: { readonly repo: string };
  readonly values: Record<string, unknown>;
}

describe("the cloud inside an OpenstackCluster", () => {
  const cluster = new MockedCluster();

  before(function () {
    this.timeout(60_000);
    return cluster.start();
  });

  beforeEach(() => cluster.forget());

  const charts = async (desired: Partial<CloudProviderArgs> = {}): Promise<Map<string, ChartInputs>> => {
    await cluster.make({
      cluster: { version: "1.36.3", network: { plugin: { bridge: {} } }, ssh: { privateKey: "KEY" } },
      cloudProvider: { enabled: true, ...desired },
    });
    // a chart comes after the Secret that it reads
    const isAwaited = () => cluster.of("Chart").some(({ inputs }) => inputs.chart === undefined);
    for (let turns = 0; isAwaited() && turns < 1000; turns++)
      await new Promise((resolve) => setImmediate(resolve));
    const made = cluster.of("Chart").map(({ name, inputs }) => [name, inputs as unknown as ChartInputs]);
    return new Map(made as [string, ChartInputs][]);
  };
  const chart = (found: Map<string, ChartInputs>, name: string): ChartInputs => {
    const inputs = found.get(`demo-${name}`);
    assert.ok(inputs, [...found.keys()].join(", "));
    return inputs;
  };

  it("consists of two charts of the project's repository, from one release of the cloud provider", async () => {
    const found = await charts();
    assert.equal(found.size, 2);
    for (const name of [CONTROLLER_MANAGER, CINDER]) {
      const { version, repositoryOpts } = chart(found, name);
      assert.match(version, /^2\.36\.\d+$/);
      assert.equal(repositoryOpts?.repo, "https://kubernetes.github.io/cloud-provider-openstack");
    }
  });

  it("annotates every object, since a chart without annotations writes null for them", async () => {
    const found = await charts();
    for (const name of [CONTROLLER_MANAGER, CINDER])
      assert.deepEqual(chart(found, name).values["commonAnnotations"], { "foresail/cluster": "demo" });
  });

  it("has its own application credential, in a Secret that both charts read", async () => {
    const found = await charts();
    assert.equal(cluster.only("ApplicationCredential").inputs.name, "foresail-demo-0123456789ab");
    const { inputs } = cluster.only("Secret");
    // the engine marks it as secret, and so wraps it
    const text = JSON.stringify(inputs).replaceAll("\\", "");
    for (const said of ['auth-url="http://', 'secret="application-credential-secret"', 'region="one"'])
      assert.ok(text.includes(said), said);
    const { metadata } = inputs as { metadata: { name: string } };
    for (const name of [CONTROLLER_MANAGER, CINDER]) {
      const { secret } = chart(found, name).values as { secret: Record<string, unknown> };
      assert.deepEqual([secret["name"], secret["create"]], [metadata.name, false]);
    }
  });

  it("creates no credential where one is given", async () => {
    await charts({ applicationCredential: { id: "given", secret: "secret" } });
    assert.deepEqual(cluster.names("ApplicationCredential"), []);
  });

  it("comes from a mirror, by HTTP or as OCI artifacts", async () => {
    const mirrored = await charts({ repository: "https://charts.example.com/openstack" });
    assert.equal(chart(mirrored, CINDER).repositoryOpts?.repo, "https://charts.example.com/openstack");
    cluster.forget();
    const artifacts = await charts({ repository: "oci://registry.example.com/charts/" });
    const { chart: reference, repositoryOpts } = chart(artifacts, CONTROLLER_MANAGER);
    assert.equal(reference, `oci://registry.example.com/charts/${CONTROLLER_MANAGER}`);
    assert.equal(repositoryOpts, undefined);
  });

  it("accepts another version and values over its own, for each chart", async () => {
    const found = await charts({
      cloudControllerManager: {
        version: "2.35.1",
        values: { cluster: { name: "other" }, tolerations: [{ operator: "Exists" }], logVerbosityLevel: 4 },
      },
    });
    const { version, values } = chart(found, CONTROLLER_MANAGER);
    assert.equal(version, "2.35.1");
    assert.deepEqual([values["cluster"], values["logVerbosityLevel"]], [{ name: "other" }, 4]);
    assert.deepEqual((values["tolerations"] as object[]).at(-1), { operator: "Exists" });
    assert.equal((values["tolerations"] as object[]).length, 3);
    assert.equal((values["secret"] as { name: string }).name, "cloud-config");
    assert.match(chart(found, CINDER).version, /^2\.36\./);
  });

  it("recreates its pods when cloud.conf changes, and only then", async () => {
    const marks = async (desired: Partial<CloudProviderArgs>) => {
      cluster.forget();
      const found = await charts(desired);
      const { podAnnotations } = chart(found, CONTROLLER_MANAGER).values;
      const { csi } = chart(found, CINDER).values as {
        csi: { plugin: Record<string, { podAnnotations: unknown }> };
      };
      assert.ok(Object.keys(csi.plugin).length > 0);
      for (const { podAnnotations: same } of Object.values(csi.plugin))
        assert.deepEqual(same, podAnnotations);
      return JSON.stringify(podAnnotations);
    };
    const given = (id: string) => ({ applicationCredential: { id, secret: "secret" } });
    const ovn = { cloudConf: { LoadBalancer: { "lb-provider": "ovn" } } };
    const seen = [await marks({}), await marks(ovn), await marks(given("one")), await marks(given("two"))];
    assert.equal(new Set(seen).size, seen.length);
    assert.equal(await marks({ repository: "https://charts.example.com" }), seen[0]);
  });

  it("omits Cinder where it is disabled, and checks the cloud for volumes only where it is enabled", async () => {
    const found = await charts({ cinder: { enabled: false } });
    assert.deepEqual([...found.keys()], [`demo-${CONTROLLER_MANAGER}`]);
    assert.equal(cluster.only("CloudPlan").inputs.volumes, undefined);
    cluster.forget();
    await charts();
    assert.equal(cluster.only("CloudPlan").inputs.volumes, true);
  });

  it("opens the node ports to the machines' network, in which load balancers have their addresses", async () => {
    await charts();
    const rules = cluster.of("SecGroupRule").filter(({ name }) => name.includes("service-load-balancers"));
    assert.deepEqual(
      rules.map(({ inputs }) => [
        inputs.protocol,
        inputs.portRangeMin,
        inputs.portRangeMax,
        inputs.remoteIpPrefix,
      ]),
      [
        ["tcp", 30000, 32767, "10.20.0.0/24"],
        ["udp", 30000, 32767, "10.20.0.0/24"],
      ],
    );
  });

  it("sets kubelets to an external cloud provider; without it they have none, and nothing is installed", async () => {
    await charts();
    const external = JSON.stringify({ name: "cloud-provider", value: "external" });
    assert.ok(JSON.stringify(cluster.only("ClusterInit").inputs).includes(external));
    cluster.forget();
    assert.equal((await charts({ enabled: false })).size, 0);
    assert.equal(JSON.stringify(cluster.only("ClusterInit").inputs).includes(external), false);
    assert.deepEqual([...cluster.names("Secret"), ...cluster.names("ApplicationCredential")], []);
  });
});
