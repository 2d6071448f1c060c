// Finds the plan of the pull request that became the commit $GITHUB_SHA of main, and writes the outputs for the next
// steps: the artifact's name, its run, and the SHA-256 that the plan must have. No run-id means that there is nothing
// to apply. What a branch could forge is refused: the plan has to come from the preview workflow's own run for the head
// of the merged pull request, which changed stack files only, and the comment that was reviewed has to name it.
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { all, changedFiles, mergedPull, PLAN_LINE, planIn, variable, workflowComments } from "./github.mjs";

const WORKFLOW = "foresail-preview.yaml";
const repository = `/repos/${variable("GITHUB_REPOSITORY")}`;
const stack = variable("STACK");
const stackFiles = `${process.env.STACK_FILES ?? "stacks/config"}/`;

const refuse = (why, advice) => {
  console.log(`::error::${why} ${advice}`);
  process.exit(1);
};
const AGAIN = "Preview and review the change in a new pull request that is up to date with main.";

const sha = variable("GITHUB_SHA");
const pull = await mergedPull(sha);
if (pull === undefined) refuse(`Commit ${sha} of main comes from no merged pull request.`, AGAIN);

const changed = await changedFiles(pull.number);
const changesStacks = changed.some((file) => file.startsWith(stackFiles));
const code = changed.filter((file) => !file.startsWith(stackFiles) && !file.endsWith(".md"));
if (!changesStacks) {
  console.log(`::notice::Pull request ${pull.number} changes no stack file: there is nothing to apply.`);
  process.exit(0);
}
if (code.length > 0)
  refuse(`Pull request ${pull.number} changes stack files and code (${code.length} files).`, AGAIN);

const runs = await all(
  `${repository}/actions/workflows/${WORKFLOW}/runs?event=pull_request&head_sha=${pull.head.sha}`,
  (page) => page.workflow_runs,
);
const run = runs
  .filter(
    (each) =>
      each.event === "pull_request" &&
      each.path === `.github/workflows/${WORKFLOW}` &&
      each.head_sha === pull.head.sha &&
      // a fork's run has the fork as its head repository
      each.head_repository?.id === each.repository.id &&
      each.conclusion === "success",
  )
  .sort((one, other) => other.run_number - one.run_number)[0];
if (run === undefined)
  refuse(`No preview of pull request ${pull.number} at ${pull.head.sha} succeeded.`, AGAIN);

const script = path.join(path.dirname(fileURLToPath(import.meta.url)), "plan-name.sh");
const name = execFileSync("bash", [script], { encoding: "utf8" }).trim();
const artifacts = await all(`${repository}/actions/runs/${run.id}/artifacts`, (page) => page.artifacts);
const plans = artifacts.filter((artifact) => artifact.name === name && !artifact.expired);
if (plans.length !== 1)
  refuse(
    `The preview has no plan for these files (${name}): main has moved since, or the plan expired.`,
    AGAIN,
  );

const isFleet = process.env.COMMENT === "fleet";
const comments = await workflowComments(pull.number, (marker) =>
  isFleet
    ? marker.startsWith("<!-- foresail:fleet/")
    : marker.startsWith("<!-- foresail:") && marker.endsWith(`/${stack} -->`),
);
const last = comments[0]?.body.trimEnd().split("\n").at(-1) ?? "";
const digest = isFleet ? planIn(last, stack) : PLAN_LINE.exec(last)?.[1];
if (comments.length !== 1 || digest === undefined)
  refuse(
    `Pull request ${pull.number} has ${comments.length} comments on ${stack}, and needs one that names a plan.`,
    AGAIN,
  );

appendFileSync(variable("GITHUB_OUTPUT"), `plan-name=${name}\nrun-id=${run.id}\nsha256=${digest}\n`);
console.log(`the plan is ${name} of run ${run.id}, SHA-256 ${digest}`);
