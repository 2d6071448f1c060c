import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import { init, type InitOptions, ownPackage } from "../../../../cli/commands/init";
import { templateFiles } from "../../../../cli/init/plan/project-files";
import { projectFolder } from "../../../../sandbox/paths";

const FLAGS: InitOptions = {
  ...{ stack: "prod", kubernetes: "v1.36.3", user: "ops", check: false },
  ...{ controlPlane: ["192.0.2.11"], worker: ["192.0.2.21", "192.0.2.22"] },
};

describe("foresail init", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-init-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  async function run(options: InitOptions, answers: string[] = []): Promise<string[]> {
    const lines: string[] = [];
    const ask = (question: string) => {
      lines.push(question);
      return Promise.resolve(answers.shift());
    };
    await init(options, { folder, say: (line) => lines.push(line), ask });
    return lines;
  }

  it("writes the folder of a cluster from flags", async () => {
    await run(FLAGS);
    assert.deepEqual(readdirSync(folder).sort(), [".gitignore", "Pulumi.yaml", "package.json", "stacks"]);
    assert.deepEqual(parse(read("stacks/config/Pulumi.prod.yaml")), {
      config: {
        "foresail:cluster": {
          ...{ name: "prod", version: "1.36.3", ssh: { user: "ops" } },
          machines: [
            { name: "cp-1", role: "control-plane", address: "192.0.2.11" },
            { name: "w-1", role: "worker", address: "192.0.2.21" },
            { name: "w-2", role: "worker", address: "192.0.2.22" },
          ],
        },
      },
    });
  });

  it("names a schema for editors that the package has", async () => {
    await run(FLAGS);
    const [, named = ""] = /\$schema=(\S+)/.exec(read("stacks/config/Pulumi.prod.yaml")) ?? [];
    const inPackage = path
      .join(folder, "stacks/config", named)
      .replace(path.join(folder, "node_modules/foresail"), "");
    assert.ok(existsSync(path.join(projectFolder, inPackage)), named);
  });

  it("depends on foresail and on the SDKs that a project shares with it", async () => {
    await run(FLAGS);
    const { main, dependencies } = JSON.parse(read("package.json")) as { main: string; dependencies: object };
    assert.equal(main, "node_modules/foresail/program.cjs");
    assert.deepEqual(Object.keys(dependencies).sort(), [
      ...["@pulumi/command", "@pulumi/kubernetes", "@pulumi/openstack", "@pulumi/pulumi", "foresail"],
    ]);
  });

  it("asks five questions, and a wrong answer again", async () => {
    const lines = await run({ check: false }, ["", "1.36", "1.36.3", "192.0.2.11", "", "ops"]);
    assert.equal(lines.filter((line) => line.endsWith(": ")).length, 6);
    assert.match(lines.join("\n"), /has no patch number/);
    assert.match(read("stacks/config/Pulumi.prod.yaml"), /version: 1\.36\.3\n +ssh:\n +user: ops\n/);
  });

  it("adds the cluster to the file that pulumi stack init made", async () => {
    mkdirSync(path.join(folder, "stacks/config"), { recursive: true });
    write("stacks/config/Pulumi.prod.yaml", "encryptionsalt: v1:abc\n");
    await run(FLAGS);
    const content = parse(read("stacks/config/Pulumi.prod.yaml")) as {
      encryptionsalt: string;
      config: object;
    };
    assert.deepEqual([content.encryptionsalt, Object.keys(content.config)], ["v1:abc", ["foresail:cluster"]]);
  });

  it("writes what the template for pulumi new has", () => {
    for (const [name, text] of Object.entries(templateFiles(ownPackage())))
      assert.equal(readFileSync(path.join(projectFolder, "template", name), "utf8"), text, name);
  });

  it("names the options without a terminal, and writes nothing", async () => {
    await assert.rejects(run({ check: false, stack: "prod" }), /without a terminal, give --kubernetes/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it("keeps what npm install and people wrote in package.json", async () => {
    write(
      "package.json",
      JSON.stringify({ name: "own", main: "index.js", dependencies: { foresail: "file:x.tgz" } }),
    );
    await run(FLAGS);
    const { name, dependencies } = JSON.parse(read("package.json")) as {
      name: string;
      dependencies: { foresail: string };
    };
    assert.deepEqual([name, dependencies.foresail], ["own", "file:x.tgz"]);
  });

  it("adds a stack to a folder that it made, with the folder's own names", async () => {
    await run(FLAGS);
    write(
      "Pulumi.yaml",
      read("Pulumi.yaml").replace("name: foresail", "name: clusters").replace(": stacks/config", ": config"),
    );
    const before = read("package.json");
    await run({ ...FLAGS, stack: "dev" });
    assert.match(read("config/Pulumi.dev.yaml"), /clusters:cluster:/);
    assert.equal(read("package.json"), before);
  });

  const refused: [string, () => void, RegExp][] = [
    [
      "a stack file",
      () => {
        mkdirSync(path.join(folder, "stacks/config"), { recursive: true });
        write("stacks/config/Pulumi.prod.yaml", "config: { foresail:cluster: {} }");
      },
      /has a configuration already/,
    ],
    [
      "the Pulumi.yaml of another program",
      () => write("Pulumi.yaml", "name: mine\nruntime: go\n"),
      /its program is another one/,
    ],
    [
      "another program",
      () => {
        write("package.json", '{"main": "index.js"}');
        write("index.js", "");
      },
      /another program: "main": "index\.js"/,
    ],
  ];
  for (const [name, prepare, expected] of refused)
    it(`does not overwrite ${name}`, async () => {
      prepare();
      const before = readdirSync(folder, { recursive: true });
      await assert.rejects(run(FLAGS), expected);
      assert.deepEqual(readdirSync(folder, { recursive: true }), before);
    });
});
