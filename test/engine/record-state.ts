/** Records the state of this release for test/engine/saved-state.test.ts. Run by hand once a release: node bin/test/engine/record-state.js */
import { existsSync, writeFileSync } from "node:fs";
import { foresailVersion } from "../../lib/version";
import { desiredCluster } from "./desired-cluster";
import { savedStateFile } from "./saved-state";
import { closeFixture, openFixture } from "./simulated-fixture";

async function record(): Promise<void> {
  const file = savedStateFile(foresailVersion());
  if (existsSync(file)) throw new Error(`${file} is there already; a recorded state never changes`);
  const fixture = await openFixture({ machines: ["cp-1", "w-1"] });
  try {
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"]) });
    await fixture.stack.up();
    const saved = { userKey: fixture.fleet.files.configuration.userKey, stack: await fixture.stack.export() };
    // where the code of this machine lies is of no use to anybody
    const isOfUse = (key: string, value: unknown) =>
      ["sourcePosition", "stackTrace"].includes(key) ? undefined : value;
    writeFileSync(file, `${JSON.stringify(saved, isOfUse, 2)}\n`);
    console.log(file);
  } finally {
    await closeFixture(fixture);
  }
}

record().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error.message);
    process.exit(1);
  },
);
