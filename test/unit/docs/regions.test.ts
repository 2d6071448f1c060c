import assert from "node:assert/strict";
import path from "node:path";
import { parse } from "yaml";
import { readFleet } from "../../../cli/fleet/plan/fleet";
import type { SharedStack } from "../../../lib/layers/shared-values";
import { generateKey } from "../../../lib/ssh/generated-key";
import { type Configuration, loadConfiguration, type System, withShared } from "../../../stacks/schema";
import { compileErrors } from "./compile";
import { filesBelow, PROJECT, read } from "./project";

const FOLDER = "examples/regions";
const { private: sshPrivateKey } = generateKey();

const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "c", cluster: { server: "https://192.0.2.10:6443" } }],
  users: [{ name: "u", user: { token: "t" } }],
  contexts: [{ name: "admin", context: { cluster: "c", user: "u" } }],
  "current-context": "admin",
});

/** What the stacks of the regions have, as the README says. */
const OUTPUTS: Record<string, SharedStack> = Object.fromEntries(
  ["eu1", "us1"].flatMap((region): [string, SharedStack][] => [
    [
      `base/${region}`,
      {
        stack: `organization/base/${region}`,
        outputs: {
          zone: `${region}.example.com`,
          sshPrivateKey,
          networkId: `network-${region}`,
          cidr: "10.20.0.0/16",
          image: `image-${region}`,
          connection: `aws-${region}`,
        },
        secrets: ["sshPrivateKey"],
      },
    ],
    [
      `management-${region}`,
      {
        stack: `organization/foresail/management-${region}`,
        outputs: { kubeconfig: KUBECONFIG },
        secrets: ["kubeconfig"],
      },
    ],
  ]),
);

/** Reads a stack file of an example over its layer, as a run would. */
async function load(system: string, stack: string): Promise<Configuration> {
  const file = `${FOLDER}/${system}/Pulumi.${stack}.yaml`;
  const { config } = parse(read(file)) as { config: Record<string, unknown> };
  const texts = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const reader = {
    ...{ project: "foresail", stack, isSecret: () => false },
    values: Object.fromEntries(texts) as Record<string, string>,
    readLayer: (name: string) => ({
      file: `layers/${name}.yaml`,
      text: read(`${FOLDER}/${system}/layers/${name}.yaml`),
    }),
  };
  const filled = await withShared(reader, (name) => {
    assert.ok(OUTPUTS[name], `${file} names the stack ${name}`);
    return Promise.resolve(OUTPUTS[name]);
  });
  return loadConfiguration(filled, (message) => assert.fail(`${file}: ${message}`));
}

const stacksOf = (system: string) =>
  filesBelow(`${FOLDER}/${system}`, ".yaml").flatMap((file) => {
    const [, stack] = /Pulumi\.(.+)\.yaml$/.exec(file) ?? [];
    return stack === undefined ? [] : [stack];
  });

/** A value of each region's own that comes from its stack. */
const OWN: Partial<Record<System, (of: never) => unknown>> = {
  ssh: ({ cluster }: { cluster: { registries: { mirrors: Record<string, string[]> } } }) =>
    cluster.registries.mirrors["docker.io"],
  openstack: ({ openstack }: { openstack: { network: { id: string } } }) => openstack.network.id,
  tumblebug: ({ tumblebug }: { tumblebug: { groups: { image: string }[] } }) => tumblebug.groups[0]?.image,
};

describe("the examples of regions", () => {
  for (const system of ["ssh", "openstack", "tumblebug", "azimuth", "machine-pool"] as const) {
    it(`of ${system} are two valid regions of that system that differ`, async () => {
      const regions = await Promise.all(["prod-eu1", "prod-us1"].map((stack) => load(system, stack)));
      assert.deepEqual(
        regions.map((region) => region.system),
        [system, system],
      );
      const [one, other] = regions.map((region) => OWN[system]?.(region as never));
      if (OWN[system] !== undefined) assert.notDeepEqual(one, other);
      assert.ok(regions.every((region) => !JSON.stringify(region).includes("${shared")));
    });

    it(`of ${system} change in waves, the canary first and the kubeconfig last`, async () => {
      const stacks = stacksOf(system);
      const { fleet, issues } = readFleet(parse(read(`${FOLDER}/${system}/fleet.yaml`)), stacks);
      assert.deepEqual(issues, []);
      const waves = fleet?.waves.map((wave) => wave.stacks);
      const collected = system === "machine-pool" ? [] : [["prod-all"]];
      assert.deepEqual(waves, [["prod-eu1"], ["prod-us1"], ...collected]);
      if (collected.length === 0) return;
      const all = await load(system, "prod-all");
      assert.ok(all.system === "collector");
      assert.deepEqual(all.collector.stacks, ["prod-eu1", "prod-us1"]);
    });

    it(`of ${system} name the schemas for editors by existing paths`, () => {
      for (const file of filesBelow(`${FOLDER}/${system}`, ".yaml")) {
        const [, schema = ""] = /^# yaml-language-server: \$schema=(.+)$/m.exec(read(file)) ?? [];
        const kind = file.includes("/layers/")
          ? "layer"
          : file.endsWith("fleet.yaml")
            ? "fleet"
            : "configuration";
        assert.equal(path.posix.join(path.posix.dirname(file), schema), `docs/${kind}.schema.json`, file);
      }
    });
  }

  it("have a base that compiles, with the outputs that OpenStack's regions use", function () {
    this.timeout(60_000);
    assert.deepEqual(compileErrors(path.join(PROJECT, FOLDER, "base/index.ts")), []);
    const outputs = [...read(`${FOLDER}/base/index.ts`).matchAll(/^export const (\w+)/gm)].map(
      ([, name]) => name,
    );
    const used = [...read(`${FOLDER}/openstack/layers/prod.yaml`).matchAll(/\$\{shared\.base\.(\w+)\}/g)];
    assert.ok(used.length > 0);
    for (const [, name] of used) assert.ok(outputs.includes(name), name);
    assert.ok(outputs.includes("zone"));
  });

  it("have a base with the versions of the project", () => {
    type Versions = Record<string, string>;
    type Manifest = { dependencies: Versions; devDependencies: Versions };
    const own = JSON.parse(read("package.json")) as Manifest;
    const base = JSON.parse(read(`${FOLDER}/base/package.json`)) as Manifest;
    const all = { ...own.devDependencies, ...own.dependencies };
    for (const [name, version] of Object.entries({ ...base.dependencies, ...base.devDependencies }))
      assert.equal(all[name], version, name);
  });
});
