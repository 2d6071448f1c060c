// Writes again what the engine prints for a preview: node bin/test/engine/record-previews.js. Places in source files
// are left out, since they name folders of one machine.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";
import { desiredCluster } from "./desired-cluster";
import { closeFixture, openFixture } from "./simulated-fixture";

const FOLDER = path.join(projectFolder, "test", "unit", "review", "samples");
const OF_ONE_MACHINE = ["sourcePosition", "stackTrace", "duration", "created", "modified"];

async function record(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const fixture = await openFixture({ machines: ["cp-1", "w-1", "w-2"] });
  const take = async (name: string, machines: string[], others: Record<string, unknown> = {}) => {
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, others) });
    const { stdout } = await fixture.stack.call(["preview", "--json"]);
    const text = JSON.stringify(
      JSON.parse(stdout, (key, value: unknown) => (OF_ONE_MACHINE.includes(key) ? undefined : value)),
      undefined,
      2,
    );
    writeFileSync(path.join(FOLDER, name), `${text.replaceAll(fixture.folder, "/project")}\n`);
  };
  try {
    await take("refused.json", ["cp-1"], { nmae: "typo" });
    await take("first-up.json", ["cp-1", "w-1"]);
    await fixture.stack.up();
    await take("scale.json", ["cp-1", "w-2"]);
  } finally {
    await closeFixture(fixture);
  }
}

record().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
