// Finds the run that made the plan for the files that are checked out, and writes its plan-name and run-id for the next steps.
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { all, variable } from "./github.mjs";

const script = path.join(path.dirname(fileURLToPath(import.meta.url)), "plan-name.sh");
const name = execFileSync("bash", [script], { encoding: "utf8" }).trim();
const artifacts = await all(
  `/repos/${variable("GITHUB_REPOSITORY")}/actions/artifacts?name=${encodeURIComponent(name)}`,
  (page) => page.artifacts,
);
const [newest] = artifacts
  // a fork can name its artifacts as it likes
  .filter(({ workflow_run: run }) => run !== null && run.head_repository_id === run.repository_id)
  .filter((artifact) => artifact.name === name && !artifact.expired)
  .sort((one, other) => other.created_at.localeCompare(one.created_at));
if (newest === undefined) {
  console.log(
    `::error::No reviewed plan for these files (${name}). Main has moved since the preview, or the plan has expired: ` +
      "preview and review them in a pull request that is up to date with main.",
  );
  process.exit(1);
}
appendFileSync(variable("GITHUB_OUTPUT"), `plan-name=${name}\nrun-id=${newest.workflow_run.id}\n`);
console.log(`the plan is ${name} of run ${newest.workflow_run.id}`);
