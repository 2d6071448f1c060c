/**
 * Records a stack and its servers for recorded-stacks.test.ts. The code that runs is that of PROJECT, a folder with a
 * compiled clone of an earlier commit; default: this one. The host name is recorded in a cluster's history, so the
 * command runs under one that is not a machine's:
 * `unshare --uts sh -c "hostname operator; node bin/test/engine/record-stack.js SYSTEM LABEL [PROJECT]"`
 */
import { homedir, hostname } from "node:os";
import { projectFolder } from "../../sandbox/paths";
import { engineToolchain } from "./simulated-fixture";
import { StackOnServers, withoutSourcePaths, writeRecorded } from "./recorded/recorded-stack";
import { RECORDED_SYSTEMS } from "./recorded/systems";

async function record([system = "", label = "", project]: string[]): Promise<void> {
  const entry = RECORDED_SYSTEMS[system];
  if (!entry || label === "" || hostname() !== "operator")
    throw new Error(
      'usage: unshare --uts sh -c "hostname operator; node bin/test/engine/record-stack.js ' +
        `${Object.keys(RECORDED_SYSTEMS).join("|")} LABEL [PROJECT]"`,
    );
  const opened = await StackOnServers.open(
    entry.start,
    await engineToolchain(entry.programs),
    undefined,
    project,
  );
  try {
    await opened.servers.record(opened.stack);
    const changes = await opened.stack.preview();
    if (changes.length > 0) throw new Error(`the stack is not finished: ${JSON.stringify(changes)}`);
    const recorded = await opened.save();
    const text = JSON.stringify(withoutSourcePaths(recorded));
    for (const folder of [homedir(), projectFolder, opened.stack.place.folder])
      if (text.includes(folder)) throw new Error(`the record contains ${folder}`);
    console.log(writeRecorded(`${system}-${label}`, text));
  } finally {
    await opened.close();
  }
}

record(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error.stack);
    process.exit(1);
  },
);
