import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { removeFolder } from "./compiled-clone";
import { makeInstalledProject } from "./installed-package";

/** Everything with a value that programs can import, by entry point. A name that is missing here is internal. */
const ENTRY_POINTS: Record<string, string[]> = {
  foresail: ["Adoption", "KubeadmCluster", "MachinePool", "ObjectReady"],
  "foresail/openstack": ["OpenstackCluster"],
  "foresail/tumblebug": ["TumblebugCluster"],
  "foresail/azimuth": [
    ...["AzimuthCluster", "Lease", "OidcClient", "Platform", "Realm"],
    ...["ZenithApiServer", "ZenithOperator"],
  ],
  "foresail/machine-pool": ["MachinePool"],
  "foresail/handlers": ["handlers"],
};

/** A field of each system, by the file of its arguments. */
const DESCRIBED = {
  "kubeadm/kubeadm-cluster-args": /\/\*\* Merged last into the KubeletConfiguration.*\n +kubelet\?: /,
  "openstack/openstack-cluster-args": /\/\*\* Entry of clouds\.yaml;.*\n +cloud\?: /,
  "tumblebug/tumblebug-cluster-args": /\/\*\* User that the server creates .*\n +user\?: /,
  "machine-pool/machine-pool-args": /\/\*\* Kubernetes version of the nodes;.*\n +version\?: /,
};

const RESOLUTIONS = {
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  // of projects made from earlier templates of Pulumi
  node10: { module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 },
};

interface Manifest {
  exports: Record<string, unknown>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

describe("the entry points of the package, in an empty project", function () {
  this.timeout(300_000);
  let folder: string;
  let manifest: Manifest;

  before(() => {
    folder = makeInstalledProject();
    const file = path.join(folder, "node_modules/foresail/package.json");
    manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  });
  after(() => folder && removeFolder(folder));

  it("are all listed in `exports`", () => {
    const code = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
    const named = code.map((entry) => entry.replace(/^\./, "foresail"));
    assert.deepEqual(
      named.sort(),
      [...Object.keys(ENTRY_POINTS), "foresail/program", "foresail/schema"].sort(),
    );
  });

  for (const [file, description] of Object.entries(DESCRIBED))
    it(`describe fields of the schema in components/${file}, as an editor shows them`, () => {
      const types = path.join(folder, "node_modules/foresail/bin/components", `${file}.d.ts`);
      assert.match(readFileSync(types, "utf8"), description);
    });

  for (const [entry, names] of Object.entries(ENTRY_POINTS))
    it(`${entry} exports only its classes and functions`, () => {
      const script = `console.log(JSON.stringify(Object.keys(require(${JSON.stringify(entry)}))))`;
      const printed = execFileSync(process.execPath, ["-e", script], { cwd: folder, encoding: "utf8" });
      assert.deepEqual((JSON.parse(printed) as string[]).sort(), names);
    });

  for (const [name, resolution] of Object.entries(RESOLUTIONS))
    it(`type-check with the module resolution ${name}`, () => {
      const uses = Object.entries(ENTRY_POINTS).map(([entry, names], index) =>
        names.map((each) => `import { ${each} as _${index}${each} } from "${entry}"; void _${index}${each};`),
      );
      const wrong = '// @ts-expect-error not a member of the package\nimport { nothing } from "foresail";';
      writeFileSync(path.join(folder, "index.ts"), [...uses.flat(), wrong, "void nothing;"].join("\n"));
      const program = ts.createProgram([path.join(folder, "index.ts")], {
        ...resolution,
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: ts.ScriptTarget.ES2022,
        types: ["node"],
        typeRoots: [path.join(folder, "node_modules/@types")],
      });
      const words = ts
        .getPreEmitDiagnostics(program)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
      assert.deepEqual(words, []);
    });

  it("have no maps to sources that are not there", () => {
    const files = readdirSync(path.join(folder, "node_modules/foresail"), {
      recursive: true,
      encoding: "utf8",
    });
    assert.deepEqual(
      files.filter((name) => name.endsWith(".map")),
      [],
    );
  });

  it("need the SDKs of Pulumi as peers, from the version that the tests run with", () => {
    for (const [name, range] of Object.entries(manifest.peerDependencies))
      assert.equal(range, `^${manifest.devDependencies[name]}`, name);
  });
});
