// Puts $OUT/comment.md under the pull request $PULL_REQUEST: into the comment that an earlier run made, found by the
// hidden marker in its first line, else into a new one. Its last line names the plan by its SHA-256, so that the merge
// runs this plan and no other.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { call, planLine, variable, workflowComments } from "./github.mjs";

const [file, plan] = ["comment.md", "plan.json"].map((name) => `${variable("OUT")}/${name}`);
if (existsSync(file)) {
  const repository = variable("GITHUB_REPOSITORY");
  const text = readFileSync(file, "utf8").trimEnd();
  const marker = text.split("\n", 1)[0];
  if (!marker.startsWith("<!-- foresail:")) throw new Error(`${file} does not begin with foresail's marker`);
  const digest = existsSync(plan) && createHash("sha256").update(readFileSync(plan)).digest("hex");
  const body = digest ? `${text}\n\n${planLine(digest)}` : text;
  // any workflow's token can change the comment later, but nothing changes the summary of this run
  if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, `${body}\n`);
  const [earlier] = await workflowComments(variable("PULL_REQUEST"), (line) => line === marker);
  const { html_url: address } = earlier
    ? await call("PATCH", `/repos/${repository}/issues/comments/${earlier.id}`, { body })
    : await call("POST", `/repos/${repository}/issues/${variable("PULL_REQUEST")}/comments`, { body });
  console.log(`${earlier ? "updated" : "created"} the comment ${address}`);
} else {
  console.log(`there is no ${file}: the preview failed before it had anything to show; see its log`);
}
