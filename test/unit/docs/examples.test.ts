import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { type Configuration, loadConfiguration } from "../../../stacks/schema";
import { compileErrors } from "./compile";
import { filesBelow, PROJECT, read } from "./project";

const STACK_FILES = [
  ...filesBelow("examples/stacks", ".yaml"),
  ...filesBelow("examples/openstack", ".yaml"),
  ...filesBelow("examples/tumblebug", ".yaml"),
  ...filesBelow("examples/azimuth", ".yaml"),
  ...filesBelow("examples/machine-pool", ".yaml"),
  "stacks/config/Pulumi.example-onprem.yaml",
];

interface Container {
  command: string[];
  args: string[];
  securityContext: object;
}

/** What a user sets beside the file, because the system requires it. */
const SECRETS: Record<string, string> = {
  "foresail:managementKubeconfig": JSON.stringify({ contexts: [{ name: "admin" }] }),
};

/** Reads a stack file as the engine passes it to the program: texts as they are, objects as JSON. */
function load(file: string) {
  const { config } = parse(read(file)) as { config: Record<string, unknown> };
  const values = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const reader = {
    project: "foresail",
    stack: path.basename(file, ".yaml"),
    values: {
      ...(Object.fromEntries(values) as Record<string, string>),
      ...(["azimuth", "machine-pool"].includes(String(config["foresail:system"])) ? SECRETS : {}),
    },
    isSecret: (key: string) => key in SECRETS,
  };
  // An example teaches current names.
  return loadConfiguration(reader, (message) => assert.fail(`${file}: ${message}`));
}

/** The sources of a kubeadm cluster's machines; other systems have none. */
function groupsOf(configuration: Configuration): { role: string }[] | undefined {
  switch (configuration.system) {
    case "ssh":
      return configuration.cluster.machines;
    case "openstack":
      return configuration.openstack.pools;
    case "tumblebug":
      return configuration.tumblebug.groups;
    case "azimuth":
    case "machine-pool":
    case "collector":
      return undefined;
  }
}

describe("examples", () => {
  it("run the monitor as a Deployment and as a service, with the same command and without rights", () => {
    const { bin } = JSON.parse(read("package.json")) as { bin: { foresail: string } };
    const { spec } = parse(read("examples/monitor/deployment.yaml")) as {
      spec: { template: { spec: { automountServiceAccountToken: boolean; containers: Container[] } } };
    };
    const { automountServiceAccountToken, containers } = spec.template.spec;
    const [{ command, args, securityContext }] = containers as [Container];
    assert.equal([...command, ...args].join(" "), `node ${bin.foresail} monitor --stack demo`);
    assert.equal(automountServiceAccountToken, false);
    assert.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const unit = read("examples/monitor/foresail-monitor@.service");
    assert.ok(unit.includes(`ExecStart=/usr/bin/env node ${bin.foresail} monitor --stack %i\n`), unit);
  });

  for (const file of STACK_FILES) {
    it(`${file} is a valid stack file`, () => {
      const configuration = load(file);
      const groups = groupsOf(configuration);
      assert.ok(groups === undefined || groups.some(({ role }) => role === "control-plane"));
    });

    it(`${file} names the schema for editors by an existing path`, () => {
      const [, schema = ""] = /^# yaml-language-server: \$schema=(.+)$/m.exec(read(file)) ?? [];
      assert.equal(path.posix.join(path.posix.dirname(file), schema), "docs/configuration.schema.json");
    });
  }

  it("of stacks are all listed in the table", () => {
    const names = filesBelow("examples/stacks", ".yaml").map((file) => path.basename(file));
    const listed = [...read("examples/README.md").matchAll(/\(stacks\/([\w.-]+\.yaml)\)/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual([...new Set(listed)].sort(), names.sort());
    assert.ok(names.length > 0);
  });

  it("package/ uses the same versions as foresail", () => {
    type Versions = Record<string, string>;
    type Manifest = { version: string; dependencies: Versions; devDependencies: Versions };
    const own = JSON.parse(read("package.json")) as Manifest;
    const { dependencies } = JSON.parse(read("examples/package/package.json")) as Manifest;
    assert.deepEqual(dependencies, {
      "@pulumi/pulumi": own.devDependencies["@pulumi/pulumi"],
      foresail: `file:../../foresail-${own.version}.tgz`,
    });
  });

  it("package/ compiles against what the package exports", function () {
    this.timeout(60_000);
    assert.deepEqual(compileErrors(path.join(PROJECT, "examples/package/index.ts")), []);
  });

  it("docs/package.md shows programs that compile against what the package exports", function () {
    this.timeout(60_000);
    const blocks = [...read("docs/package.md").matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
    assert.ok(blocks.length > 6, `${blocks.length} programs`);
    const folder = mkdtempSync(path.join(PROJECT, "bin", "page-"));
    try {
      const file = path.join(folder, "page.ts");
      writeFileSync(file, blocks.join("\n"));
      assert.deepEqual(compileErrors(file), []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
