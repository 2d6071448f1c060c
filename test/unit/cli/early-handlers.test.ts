import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";

const EARLY = require.resolve("../../../cli/engine/early-handlers");
const CLONE = path.dirname(require.resolve("foresail/package.json"));

/** Names of the handlers' modules that a process has loaded after it has printed its port. @param program what it runs */
function loadedBy(program: string): string[] {
  const text = `process.argv[1] = ${JSON.stringify(program)};
    require(${JSON.stringify(EARLY)});
    const loaded = () => Object.keys(require.cache).filter((file) => file.endsWith("-handlers.js"));
    const before = loaded().filter((file) => !file.includes("early-") && !file.includes("displayed-"));
    console.log("41234");
    setImmediate(() => setImmediate(() => console.log(JSON.stringify([before.length, ...loaded()]))));`;
  const answer = execFileSync(process.execPath, ["--eval", text], { encoding: "utf8", cwd: CLONE });
  const [port, json = "[]"] = answer.trim().split("\n");
  assert.equal(port, "41234");
  const [before, ...files] = JSON.parse(json) as [number, ...string[]];
  assert.equal(before, 0);
  return files.map((file) => path.basename(file));
}

describe("the handlers that are loaded early", () => {
  const handlers = ["cluster-init", "admin-kubeconfig", "node-group", "node-rollout"].map(
    (name) => `${name}-handlers.js`,
  );

  it("are there when the dynamic provider has printed its port", () => {
    const loaded = loadedBy("/x/@pulumi/pulumi/cmd/dynamic-provider/index.js");
    for (const file of handlers) assert.ok(loaded.includes(file), `${file} is not in ${loaded.join(", ")}`);
  });

  it("are not loaded by a program", () => {
    const loaded = loadedBy("/x/@pulumi/pulumi/cmd/run/index.js");
    for (const file of handlers) assert.ok(!loaded.includes(file), file);
  });
});
