import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import type { AzimuthClusterArgs } from "../../../../components/azimuth/azimuth-cluster-args";
import { KUBECONFIG, MockedEngine, promised, type Registered } from "./mocked-engine";

const chart = (name: string) => ({ chart: name, repository: "https://charts.example", version: "0.27.0" });

const ARGS: AzimuthClusterArgs = {
  kubeconfig: KUBECONFIG,
  namespace: "az-demo",
  cluster: {
    label: "demo",
    templateName: "kube-1-36-3",
    cloudCredentialsSecretName: "credentials",
    leaseName: "demo",
    autohealing: true,
    controlPlaneMachineSize: "vm.small",
    nodeGroups: [{ name: "workers", machineSize: "vm.large", autoscale: false, count: 2 }],
    addons: {
      ingress: false,
      monitoring: true,
      monitoringAlertmanagerVolumeSize: 10,
      monitoringPrometheusVolumeSize: 10,
      monitoringLokiVolumeSize: 10,
    },
  },
  identity: { defaultClusterRole: "cluster-admin" },
  zenith: {
    registrarAdminUrl: "http://registrar.example",
    sshdHost: "zenith.example",
    sshdPort: 22,
    projectId: "0a1b",
  },
  charts: {
    cluster: chart("openstack-cluster"),
    zenithOperator: chart("zenith-operator"),
    zenithApiServer: chart("zenith-apiserver"),
  },
  values: {},
  nodeGroupOverrides: {},
  record: true,
  adopt: false,
  timeouts: { identitySeconds: 600, leaseSeconds: 3600, zenithSeconds: 120, deletionSeconds: 3600 },
};

describe("AzimuthCluster", () => {
  const engine = new MockedEngine();
  let AzimuthCluster: typeof import("../../../../components/azimuth/azimuth-cluster").AzimuthCluster;

  before(async function () {
    this.timeout(60_000);
    await engine.start();
    ({ AzimuthCluster } = await import("../../../../components/azimuth/azimuth-cluster.js"));
  });

  beforeEach(() => (engine.leftOut = []));

  const make = () => engine.run((opts) => new AzimuthCluster("demo", ARGS, opts));

  it("registers the resources under the names that existing stacks have", async () => {
    const registered = await make();
    assert.deepEqual(shortened(registered), RESOURCES);
    assert.deepEqual(
      registered.flatMap(({ options }) => options.aliases ?? []),
      [],
    );
  });

  // the second one includes the chart's values, in which the portal's icon of the monitoring is new
  it("stores the same fingerprint as earlier releases, since another one is a step", async () => {
    const registered = await make();
    const stored = registered.flatMap(({ inputs: { fingerprint } }) => fingerprint ?? []);
    assert.deepEqual(stored, ["20cd971c4e27f960", "6782adb11465a2c0"]);
  });

  it("has outputs without a value for what --target leaves out", async () => {
    engine.leftOut = ["-template", "-oidc-client", "-platform", "-lease"];
    let cluster: InstanceType<typeof AzimuthCluster> | undefined;
    const registered = await engine.run((opts) => (cluster = new AzimuthCluster("demo", ARGS, opts)));
    assert.deepEqual(shortened(registered), RESOURCES);
    assert.ok(cluster);
    assert.deepEqual(await promised(cluster.oidc), {});
    assert.deepEqual(await promised(cluster.sizes), {});
  });

  it("needs only the cluster's specification and the tenancy", async () => {
    const { kubeconfig, namespace, cluster } = ARGS;
    const registered = await engine.run(
      (opts) => new AzimuthCluster("demo", { kubeconfig, namespace, cluster }, opts),
    );
    const release = registered.find(({ urn }) => urn.endsWith("::demo-chart"));
    assert.equal(release?.inputs.chart, "openstack-cluster");
    assert.deepEqual(release?.inputs.repositoryOpts, {
      repo: "https://azimuth-cloud.github.io/capi-helm-charts",
    });
    assert.equal(release?.inputs.version, "0.27.0");
  });

  it("waits for machines only on request, before the record is completed, and then has a kubeconfig", async () => {
    let cluster: InstanceType<typeof AzimuthCluster> | undefined;
    const registered = await engine.run(
      (opts) => (cluster = new AzimuthCluster("demo", { ...ARGS, waitForMachines: true }, opts)),
    );
    const expected = [...RESOURCES];
    expected.splice(expected.indexOf("StatusStamp::demo-finished"), 0, "ClusterReady::demo-ready");
    assert.deepEqual(shortened(registered), expected);
    const ready = registered.find(({ urn }) => urn.endsWith("::demo-ready"));
    assert.equal(ready?.inputs.timeoutSeconds, 3600);
    assert.ok(cluster);
    assert.equal(await pulumi.isSecret(cluster.kubeconfig), true);
    assert.deepEqual(await Promise.all([cluster.kubeconfig, cluster.phase].map(promised)), ["ITS", "Ready"]);
  });

  it("marks each object with the stack's identity, and is taken over with its Helm release", async () => {
    const takeOver = "2f1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
    const registered = await engine.run((opts) => new AzimuthCluster("demo", { ...ARGS, takeOver }, opts));
    const inputsOf = (type: string) =>
      registered.filter(({ urn }) => urn.includes(`:${type}::`)).map(({ inputs }) => inputs);
    const adoptions = inputsOf("Adoption");
    assert.equal(adoptions.length, 4);
    for (const { owner, adopt, takeOver: former } of adoptions) {
      assert.ok(owner && typeof owner === "object" && "id" in owner && "stack" in owner);
      assert.deepEqual([adopt, former], [false, takeOver]);
    }
    const [guard] = inputsOf("DestroyGuard");
    assert.deepEqual(guard?.["stackOwner"], adoptions[0]?.["owner"]);
    assert.deepEqual(
      inputsOf("ReleaseRecovery").map(({ adopt }) => adopt),
      [true],
    );
  });

  it("registers no identity, lease, tunnel or record for a cluster without them", async () => {
    const { leaseName: _, ...cluster } = ARGS.cluster;
    const { zenith: __, ...args } = ARGS;
    const registered = await engine.run(
      (opts) => new AzimuthCluster("demo", { ...args, cluster, identity: null, record: false }, opts),
    );
    assert.deepEqual(shortened(registered), [
      ...["AzimuthCluster::demo", "ObjectReady::demo-template", "ObjectReady::demo-credentials"],
      ...["Adoption::demo-owner", "EtcdKey::demo-etcd-key", "ServiceSync::demo-services"],
      ...["kubernetes::demo-management"],
      ...["ClusterGone::demo-gone", "ReleaseRecovery::demo-chart-recovery", "Release::demo-chart"],
      "DestroyGuard::demo-guard",
    ]);
  });
});

/** The resources of a whole cluster, as state names them; a change here replaces or deletes them. */
const RESOURCES = [
  ...["AzimuthCluster::demo", "ObjectReady::demo-template", "ObjectReady::demo-credentials"],
  ...["Adoption::demo-record", "StatusStamp::demo-started", "EtcdKey::demo-etcd-key"],
  ...["ObjectReady::demo-realm", "Adoption::demo-oidc-client", "Adoption::demo-platform"],
  ...["ServiceSync::demo-services", "Adoption::demo-lease", "kubernetes::demo-management"],
  ...["ZenithKeypair::demo-zenith-key", "ClusterGone::demo-gone", "ReleaseRecovery::demo-chart-recovery"],
  ...["Release::demo-chart", "Chart::demo-zenith-operator", "StatusStamp::demo-finished"],
  ...["RecordPrune::demo-prune", "DestroyGuard::demo-guard"],
];

const PARENT = "foresail:azimuth:AzimuthCluster$";
const TYPE =
  /^(?:pulumi-nodejs:dynamic\/foresail:|foresail:azimuth:|kubernetes:helm.sh\/v[34]:|pulumi:providers:)/;

/** Returns types and names, of which all but the first are children of the cluster and of nothing else. */
const shortened = (registered: readonly Registered[]): string[] =>
  registered.map(({ urn }, index) => {
    assert.ok(urn.startsWith(index === 0 ? PARENT.slice(0, -1) : PARENT), urn);
    return (index === 0 ? urn : urn.slice(PARENT.length)).replace(TYPE, "");
  });
