import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { mergeOver } from "../../lib/layers/merge";
import { registerCluster } from "../../sandbox/capi/workload-cluster";
import { makeTenancy, simulatedChart } from "../../sandbox/azimuth/tenancy";
import { projectFolder } from "../../sandbox/paths";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { connectionOf } from "../../sandbox/tumblebug/clouds";
import { FakeMachines } from "../../sandbox/tumblebug/machines";
import { TumblebugServer } from "../../sandbox/tumblebug/server";
import { newKey } from "../support/ssh-server";
import { CREDENTIAL } from "../support/tumblebug";
import { CloudServer, ok, readCloud } from "../unit/providers/openstack/cloud-server";
import { azimuthFixture } from "./azimuth-fixture";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { AWS_KINDS, machinePoolFixture } from "./machine-pool-fixture";
import { createSharedOutputs, type SharedOutputs } from "./shared-outputs";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { type PreviewStep, TestStack } from "./test-stack";
import type { Toolchain } from "../../sandbox/toolchain";

const REGIONS = ["eu1", "us1"];

/** What a layer has that a test can't: addresses of servers, and charts of the internet. */
type Replaced = Readonly<Record<string, object>>;

/** Copies an example to a project, and makes the stacks of its regions and those to which they refer. */
async function openExample(
  folder: string,
  toolchain: Toolchain,
  system: string,
  shared: readonly SharedOutputs[],
  replaced: Replaced = {},
): Promise<TestStack[]> {
  const config = path.join(folder, "stacks", "config");
  cpSync(path.join(projectFolder, "examples", "regions", system), config, { recursive: true });
  const layer = path.join(config, "layers", "prod.yaml");
  const written = parse(readFileSync(layer, "utf8")) as { config: object };
  writeFileSync(layer, stringify({ config: mergeOver(written.config, replaced) }));
  const stacks = REGIONS.map((region) => {
    const stack = new TestStack({ folder, project: "foresail", stack: `prod-${region}` }, toolchain);
    return stack.create();
  });
  const made: TestStack[] = [];
  for (const stack of stacks) made.push(await stack);
  for (const outputs of shared)
    await createSharedOutputs({ folder, stateFolder: made[0]!.stateFolder }, toolchain, outputs);
  return made;
}

const namesOf = (steps: readonly PreviewStep[], type: string) =>
  steps
    .filter((step) => step.type.endsWith(type))
    .map(({ name }) => name.replace(/-[0-9a-z]{5}$/, ""))
    .sort();

/** Outputs of `management-REGION`, a stack of the same project. */
const managementStacks = (kubeconfig: string): SharedOutputs[] =>
  REGIONS.map((region) => ({
    ...{ project: "foresail", stack: `management-${region}` },
    secret: { kubeconfig },
  }));

describe("the example of regions on clouds", function () {
  this.timeout(SET_UP_MILLISECONDS);
  const folders: string[] = [];
  let toolchain: Toolchain;
  before(async () => {
    toolchain = await engineToolchain([...TEST_NEEDS.programs, "plugin-openstack"]);
  });
  after(() => folders.forEach(removeFolder));
  const clone = () => {
    const folder = makeCompiledClone();
    folders.push(folder);
    return folder;
  };
  const plugin = { cilium: null, bridge: {} };

  it("of OpenStack previews all machines of each region, behind a load balancer", async () => {
    const flavors = ["m1.medium", "m1.large"].map((name) => ({
      id: name,
      name,
      vcpus: 2,
      ram: 4096,
      disk: 20,
    }));
    const images = REGIONS.map((region) => ({
      id: region,
      name: `image-${region}`,
      status: "active",
      min_disk: 1,
      min_ram: 0,
    }));
    const cloud = new CloudServer((request) => {
      if (request.path.startsWith("/compute/v2.1/flavors/detail")) return ok({ flavors });
      if (request.path.startsWith("/image/v2/images?")) return ok({ images });
      return readCloud(request);
    });
    cloud.hasLoadBalancers = true;
    await cloud.listen();
    try {
      const folder = clone();
      const base = REGIONS.map((stack) => ({
        ...{ project: "base", stack },
        plain: { networkId: `network-${stack}`, cidr: "10.20.0.0/16", image: `image-${stack}` },
      }));
      const key = newKey();
      const replaced = {
        "foresail:cluster": { network: { plugin } },
        "foresail:openstack": { keypair: { publicKey: key.public } },
      };
      const stacks = await openExample(folder, toolchain, "openstack", base, replaced);
      const auth = {
        auth_url: cloud.url,
        application_credential_id: "a",
        application_credential_secret: "s",
      };
      const clouds = Object.fromEntries(REGIONS.map((region) => [region, { region_name: "one", auth }]));
      writeFileSync(path.join(folder, "clouds.yaml"), JSON.stringify({ clouds }));
      for (const [index, stack] of stacks.entries()) {
        await stack.setSecret("sshPrivateKey", key.private);
        const steps = await stack.preview();
        const region = REGIONS[index];
        assert.deepEqual(
          namesOf(steps, ":Instance"),
          ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3"].map((name) => `${region}-${name}`),
        );
        assert.equal(namesOf(steps, ":LoadBalancer").length, 1);
        assert.ok(steps.every(({ op }) => op === "create"));
      }
    } finally {
      await cloud.close();
    }
  });

  it("of CB-Tumblebug previews all VMs of each region", async () => {
    const folder = clone();
    const server = new TumblebugServer({
      ...{
        generation: "infra",
        folder: mkdtempSync(path.join(tmpdir(), "foresail-tumblebug-")),
        ...CREDENTIAL,
      },
      ...{ connections: REGIONS.map((region) => connectionOf("aws", region)), machines: new FakeMachines() },
    });
    const address = await server.start();
    try {
      const base = REGIONS.map((stack) => ({
        ...{ project: "base", stack },
        plain: { connection: connectionOf("aws", stack).name, image: "debian-12" },
      }));
      const replaced = { "foresail:cluster": { network: { plugin } }, "foresail:tumblebug": { address } };
      const { user: username, password } = CREDENTIAL;
      for (const stack of await openExample(folder, toolchain, "tumblebug", base, replaced)) {
        await stack.setSecret("tumblebugCredentials", JSON.stringify({ username, password }));
        await stack.setSecret("sshPrivateKey", newKey().private);
        const steps = await stack.preview();
        assert.equal(namesOf(steps, ":TumblebugVm").length, 6);
        assert.ok(steps.every(({ op }) => op === "create"));
      }
    } finally {
      await server.close();
    }
  });
});

describe("the example of regions through Azimuth", function () {
  this.timeout(240_000);
  const fixture = azimuthFixture();

  it("previews each region, and comes up with a kubeconfig from the stack of its management cluster", async () => {
    const { folder, api, management } = fixture;
    await makeTenancy(management, "az-prod");
    const credentials = { namespace: "az-prod", name: "prod-cloud-credentials" };
    await management.create({ apiVersion: "v1", kind: "Secret", metadata: credentials });
    const charts = { cluster: { chart: simulatedChart("openstack-cluster") } };
    const [eu1, us1] = await openExample(
      ...([
        folder,
        await engineToolchain(TEST_NEEDS.programs),
        "azimuth",
        managementStacks(api.kubeconfig()),
      ] as const),
      { "foresail:azimuth": { charts } },
    );
    for (const stack of [eu1, us1]) assert.deepEqual(namesOf(await stack!.preview(), ":Release"), ["prod"]);
    await eu1!.up();
    assert.deepEqual(await eu1!.preview(), []);
    await eu1!.destroy();
  });
});

describe("the example of regions of machine pools", function () {
  this.timeout(240_000);
  const fixture = machinePoolFixture({ milliseconds: 100 });

  it("previews each region, and comes up with a kubeconfig from the stack of its management cluster", async () => {
    const { folder, toolchain, capi } = fixture;
    const kubeconfig = capi.api.kubeconfig();
    await capi.serveKinds(AWS_KINDS);
    for (const region of REGIONS)
      await registerCluster(capi.kubernetes, { namespace: "clusters", name: `prod-${region}` }, kubeconfig);
    const [eu1, us1] = await openExample(folder, toolchain, "machine-pool", managementStacks(kubeconfig));
    for (const stack of [eu1, us1])
      assert.deepEqual(namesOf(await stack!.preview(), ":Adoption"), [
        "workers-a",
        "workers-a-bootstrap",
        "workers-a-infrastructure",
      ]);
    await eu1!.up();
    assert.deepEqual(await eu1!.preview(), []);
    await eu1!.destroy();
  });
});
