import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ChartRepository } from "../../../support/chart-repository";
import { KUBECONFIG, MockedEngine } from "./mocked-engine";

const NAMES = { cluster: "openstack-cluster", operator: "zenith-operator", tunnel: "zenith-apiserver" };
const WRONG = `sha256:${"0".repeat(64)}`;
const zenith = {
  registrarAdminUrl: "http://registrar",
  sshdHost: "z.example.com",
  sshdPort: 22,
  projectId: "1",
};
const cluster = {
  ...{ label: "demo", templateName: "kube", cloudCredentialsSecretName: "credentials", autohealing: true },
  ...{ controlPlaneMachineSize: "vm.small", nodeGroups: [] },
  addons: {
    ...{ ingress: false, monitoring: false, monitoringAlertmanagerVolumeSize: 10 },
    ...{ monitoringPrometheusVolumeSize: 10, monitoringLokiVolumeSize: 10 },
  },
};

describe("the digests of Azimuth's charts", () => {
  const engine = new MockedEngine();
  const ownFolder = process.cwd();
  let folder: string;
  let repository: ChartRepository;

  before(async function () {
    this.timeout(60_000);
    await engine.start();
    folder = mkdtempSync(path.join(tmpdir(), "foresail-digests-"));
    for (const name of Object.values(NAMES)) {
      mkdirSync(path.join(folder, name));
      writeFileSync(path.join(folder, name, "Chart.yaml"), `{apiVersion: v2, name: ${name}, version: 1.0.0}`);
    }
    repository = await ChartRepository.start(
      Object.values(NAMES).map((name) => ({ folder: path.join(folder, name) })),
    );
    // copies are kept in the program's folder
    process.chdir(folder);
  });
  after(async () => {
    process.chdir(ownFolder);
    await repository.stop();
    rmSync(folder, { recursive: true });
  });

  async function sourceOf(chart: string) {
    const download = await fetch(`${repository.url}/${chart}-1.0.0.tgz`);
    const content = Buffer.from(await download.arrayBuffer());
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    return { chart, repository: repository.url, version: "1.0.0", digest };
  }

  it("are verified for every chart of a cluster, and Helm gets the verified copies", async () => {
    const { AzimuthCluster } = await import("../../../../components/azimuth/azimuth-cluster.js");
    const [own, operator, tunnel] = await Promise.all(Object.values(NAMES).map(sourceOf));
    const args = { kubeconfig: KUBECONFIG, namespace: "az-demo", cluster, zenith };
    const charts = { cluster: own!, zenithOperator: operator!, zenithApiServer: tunnel! };
    const registered = await engine.run((opts) => new AzimuthCluster("demo", { ...args, charts }, opts));
    for (const [resource, chart] of [
      ["demo-chart", NAMES.cluster],
      ["demo-zenith-operator", NAMES.operator],
    ] as const) {
      const { inputs } = registered.find(({ urn }) => urn.endsWith(`::${resource}`))!;
      assert.match(String(inputs.chart), new RegExp(`^\\./\\.foresail/charts/${chart}-[0-9a-z]{12}$`));
      assert.deepEqual([inputs.version, inputs.repositoryOpts], [undefined, undefined]);
    }
    const { path: rendered } = JSON.parse(engine.rendered.at(-1)!) as { path: string };
    assert.match(rendered, /^\.\/\.foresail\/charts\/zenith-apiserver-/);
  });

  it("refuse a chart of the tunnel with another digest, before a name is reserved", async () => {
    const { ZenithApiServer } = await import("../../../../components/azimuth/zenith.js");
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "demo", uid: "u" };
    const chart = { ...(await sourceOf(NAMES.tunnel)), digest: WRONG };
    const part = { kubeconfig: KUBECONFIG, namespace: "az-demo", cluster: "demo", owner, zenith, chart };
    const registered = await engine.run((opts) => new ZenithApiServer("z", part, opts));
    const key = registered.find(({ urn }) => urn.includes("ZenithKeypair"));
    assert.match(
      String(key?.inputs.chartIssue),
      new RegExp(`and ${WRONG} is expected, so nothing of it was used`),
    );
  });
});
