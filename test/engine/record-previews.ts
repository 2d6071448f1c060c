// Writes anew what the engine prints for a preview: node bin/test/engine/record-previews.js. Places in source files
// are left out, since they name folders of one machine.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../../sandbox/places";
import { clusterWish } from "./cluster-wish";
import { closeGround, openGround } from "./simulated-ground";

const FOLDER = path.join(projectFolder, "test", "unit", "review", "samples");
const OF_ONE_MACHINE = ["sourcePosition", "stackTrace", "duration", "created", "modified"];

async function record(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const ground = await openGround({ machines: ["cp-1", "w-1", "w-2"] });
  const take = async (name: string, machines: string[], others: Record<string, unknown> = {}) => {
    ground.stack.configure({ cluster: clusterWish(ground.fleet, machines, others) });
    const { stdout } = await ground.stack.call(["preview", "--json"]);
    const text = JSON.stringify(
      JSON.parse(stdout, (key, value: unknown) => (OF_ONE_MACHINE.includes(key) ? undefined : value)),
      undefined,
      2,
    );
    writeFileSync(path.join(FOLDER, name), `${text.replaceAll(ground.folder, "/project")}\n`);
  };
  try {
    await take("refused.json", ["cp-1"], { nmae: "typo" });
    await take("first-up.json", ["cp-1", "w-1"]);
    await ground.stack.up();
    await take("scale.json", ["cp-1", "w-2"]);
  } finally {
    await closeGround(ground);
  }
}

record().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
