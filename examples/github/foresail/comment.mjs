// Puts $OUT/comment.md under the pull request $PULL_REQUEST: into the comment that an earlier run made, found by the hidden
// marker in its first line, else into a new one.
import { existsSync, readFileSync } from "node:fs";
import { all, call, variable } from "./github.mjs";

/** Who comments with a workflow's own token; nobody else's comment is written over, whatever marker it bears. */
const AUTHOR = "github-actions[bot]";

const file = `${variable("OUT")}/comment.md`;
if (existsSync(file)) {
  const repository = variable("GITHUB_REPOSITORY");
  const body = readFileSync(file, "utf8");
  const marker = body.slice(0, body.indexOf("\n"));
  if (!marker.startsWith("<!-- foresail:")) throw new Error(`${file} does not begin with foresail's marker`);
  const comments = await all(`/repos/${repository}/issues/${variable("PULL_REQUEST")}/comments`);
  const earlier = comments.find(
    (comment) => comment.user?.login === AUTHOR && comment.body?.startsWith(marker),
  );
  const { html_url: address } = earlier
    ? await call("PATCH", `/repos/${repository}/issues/comments/${earlier.id}`, { body })
    : await call("POST", `/repos/${repository}/issues/${variable("PULL_REQUEST")}/comments`, { body });
  console.log(`${earlier ? "updated" : "made"} the comment ${address}`);
} else {
  console.log(`there is no ${file}: the preview failed before it had anything to say; see its log`);
}
