// Finds the plan of the pull request that became the commit $GITHUB_SHA of main, and writes the outputs for the next
// steps: the artifact's name, its run, and the SHA-256 that the plan must have. No run-id means that there is nothing
// to apply. The plan has to come from the preview workflow's own run for the head of the merged pull request, which changed
// stack files only, and the comment that was reviewed has to name it. Whoever may push a branch can write comments and keep
// artifacts, so `plan-seal.mjs check` comes next: it accepts what the preview's environment has sealed, and nothing else.
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  all,
  call,
  changedFiles,
  mergedPull,
  PLAN_LINE,
  planIn,
  variable,
  workflowComments,
} from "./github.mjs";

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
if (pull === undefined)
  refuse(`Commit ${sha} of main comes from no merged pull request, or from several.`, AGAIN);

const changed = await changedFiles(pull.number);
const changesStacks = changed.some((file) => file.startsWith(stackFiles));
const code = changed.filter((file) => !file.startsWith(stackFiles) && !file.endsWith(".md"));
if (!changesStacks) {
  console.log(`::notice::Pull request ${pull.number} changes no stack file: there is nothing to apply.`);
  process.exit(0);
}
if (code.length > 0)
  refuse(`Pull request ${pull.number} changes stack files and code (${code.length} files).`, AGAIN);

const script = path.join(path.dirname(fileURLToPath(import.meta.url)), "plan-name.sh");
const name = execFileSync("bash", [script], {
  encoding: "utf8",
  env: { ...process.env, FILES: ".", PULL_REQUEST: String(pull.number), HEAD_SHA: pull.head.sha },
}).trim();
// any workflow can keep an artifact of any name, so each one counts by its run, and in the end by its seal
const artifacts = await all(
  `${repository}/actions/artifacts?name=${encodeURIComponent(name)}`,
  (page) => page.artifacts,
);
const isPreview = (run) =>
  run.event === "pull_request_target" &&
  ["", "@main", "@refs/heads/main"].some((ref) => run.path === `.github/workflows/${WORKFLOW}${ref}`) &&
  // a fork's run has the fork as its head repository
  run.head_repository?.id === run.repository.id &&
  run.conclusion === "success";
const plans = new Map();
for (const artifact of artifacts.filter((each) => each.name === name && !each.expired)) {
  const { id } = artifact.workflow_run;
  const run = plans.get(id)?.run ?? (await call("GET", `${repository}/actions/runs/${id}`));
  if (isPreview(run)) plans.set(id, { run, count: (plans.get(id)?.count ?? 0) + 1 });
}
const newest = [...plans.values()].sort((one, other) => other.run.run_number - one.run.run_number)[0];
if (newest === undefined)
  refuse(
    `No successful preview of pull request ${pull.number} has a plan for these files (${name}): it was not previewed, main has moved since, or the plan expired.`,
    AGAIN,
  );
if (newest.count !== 1) refuse(`Run ${newest.run.id} has ${newest.count} plans named ${name}.`, AGAIN);
const { run } = newest;

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

const outputs = { "plan-name": name, "run-id": run.id, sha256: digest };
const pullOutputs = { "pull-request": pull.number, "head-sha": pull.head.sha };
for (const [key, value] of Object.entries({ ...outputs, ...pullOutputs }))
  appendFileSync(variable("GITHUB_OUTPUT"), `${key}=${value}\n`);
console.log(`the plan is ${name} of run ${run.id}, SHA-256 ${digest}`);
