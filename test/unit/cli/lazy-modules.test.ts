import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { PRELOADED } from "../../../cli/engine/pulumi";

const pulumi = path.dirname(require.resolve("@pulumi/pulumi/package.json"));
const preloaded = PRELOADED.filter((file) => path.basename(file) === "lazy-modules.js");

/** Runs code in a process like the engine's, with foresail's program loaded. @returns what it leaves in `result` */
function inProgram(code: string): unknown {
  const text = `process.argv[1] = ${JSON.stringify(path.join(pulumi, "cmd", "run", "index.js"))};
    for (const file of ${JSON.stringify(preloaded)}) require(file);
    const loaded = (name) => Object.values(require.cache).filter((entry) =>
      entry.filename?.includes("/node_modules/" + name + "/") && entry.children.length > 0).length;
    require(${JSON.stringify(require.resolve("source-map-support/register", { paths: [pulumi] }))});
    require(${JSON.stringify(path.join(pulumi, "cmd", "run", "tracing.js"))});
    const pulumi = require("@pulumi/pulumi");
    require(${JSON.stringify(path.resolve(__dirname, "../../../stacks/schema.js"))});
    let result;
    ${code}
    Promise.resolve(result).then((known) => console.log(JSON.stringify(known)));`;
  // a closure reads every built-in module, also the deprecated ones
  const args = ["--no-warnings", "--eval", text];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", cwd: __dirname }));
}

describe("modules that foresail does not use", () => {
  it("are not loaded with Pulumi and the schema, unlike those that it uses", () => {
    const names = [
      "@pulumi/pulumi/automation",
      "@opentelemetry/sdk-trace-node",
      "zod/v4/locales",
      "source-map-support",
      "normalize-package-data",
    ];
    assert.deepEqual(
      inProgram(
        `result = ${JSON.stringify([...names, "@pulumi/pulumi/runtime"])}.map((name) => loaded(name) > 1)`,
      ),
      [false, false, false, false, false, true],
    );
  });

  it("are the real ones on first use: their classes, their fields, and messages in English without them", () => {
    assert.deepEqual(
      inProgram(`
        const { Resource } = require("@opentelemetry/resources");
        const { z } = require("zod");
        result = [
          typeof pulumi.automation.LocalWorkspace.create,
          "Stack" in pulumi.automation,
          Object.keys(z.locales).includes("de"),
          Resource.default() instanceof Resource,
          typeof require(${JSON.stringify(require.resolve("normalize-package-data", { paths: [pulumi] }))}).default,
          z.string().safeParse(1).error.issues[0].message,
        ];`),
      ["function", true, true, true, "function", "Invalid input: expected string, received number"],
    );
  });

  it("connect to the inspector when a closure is serialized, and know the files of scripts that loaded before", () => {
    assert.deepEqual(
      inProgram(`
        const { Session } = require("node:inspector");
        const hooks = require(${JSON.stringify(path.join(pulumi, "runtime", "closure", "v8Hooks.js"))});
        let connections = 0;
        const { connect } = Session.prototype;
        Session.prototype.connect = function () { connections++; return connect.call(this); };
        const ids = Array.from({ length: 5_000 }, (_, id) => String(id));
        result = (async () => {
          await hooks.isInitializedAsync();
          const atStart = connections;
          const captured = { answer: 42 };
          const { text } = await pulumi.runtime.serializeFunction(() => captured.answer);
          const files = ids.map((id) => hooks.getScriptUrl(id) ?? "");
          return [atStart, connections, text.includes("42"), files.some((file) => file.endsWith("/schema.js"))];
        })();`),
      [0, 1, true, true],
    );
  });
});
