import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { projectFolder } from "../../sandbox/paths";
import { linkDependencies } from "./compiled-clone";

interface JournalOptions {
  /** How long a run waits for hold-<stack> at most. */
  readonly holdSeconds: number;
  /** Name of a secret of each stack, which becomes an output; default: none. */
  readonly secret?: string;
}

/**
 * Writes a project of the name "waves". The run of a stack writes a journal, waits while hold-<stack> exists, and fails while
 * fail-<stack> exists, with its content as the error.
 */
export function writeJournalProject(folder: string, options: JournalOptions): void {
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  write("Pulumi.yaml", stringify({ name: "waves", runtime: "nodejs", main: "index.js" }));
  write("package.json", '{"name": "waves"}');
  write("index.js", programOf(options));
  write("version", "-1");
  linkDependencies(folder);
  symlinkSync(path.join(projectFolder, "bin"), path.join(folder, "bin"));
}

const programOf = ({ holdSeconds, secret }: JournalOptions) => `
const pulumi = require("@pulumi/pulumi");
const fs = require("fs");
module.exports = async () => {
  const stack = pulumi.getStack();
  const outputs = ${secret === undefined ? "{}" : `{ ${secret}: new pulumi.Config().requireSecret("${secret}") }`};
  if (!pulumi.runtime.isDryRun()) {
    fs.appendFileSync("journal", stack + " begins\\n");
    for (let left = ${holdSeconds * 10}; left > 0 && fs.existsSync("hold-" + stack); left -= 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    if (fs.existsSync("fail-" + stack))
      throw new pulumi.RunError(fs.readFileSync("fail-" + stack, "utf8") || "broken on purpose");
    fs.appendFileSync("journal", stack + " ends\\n");
  }
  new pulumi.ComponentResource("test:index:Region", stack + fs.readFileSync("version", "utf8"), outputs);
  return { stack, ...outputs };
};
`;

/** Returns what the runs in a folder wrote since the journal was last removed. */
export function readJournal(folder: string): string[] {
  const file = path.join(folder, "journal");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
