// The issues of a GitHub repository that its workflows have opened, each found by the marker in its first line.
import { all, AUTHOR, call, variable } from "./github.mjs";

const issues = `/repos/${variable("GITHUB_REPOSITORY")}/issues`;

/** Returns the open issue with a marker; undefined without one. */
export async function findIssue(marker) {
  const open = await all(`${issues}?state=open&creator=${encodeURIComponent(AUTHOR)}`);
  const found = open.find(
    (issue) =>
      issue.user?.login === AUTHOR && !issue.pull_request && (issue.body ?? "").split("\n", 1)[0] === marker,
  );
  return found && { id: found.number, address: found.html_url };
}

/** Opens an issue, or changes the one with this number. @returns its address */
export async function writeIssue({ title, body }, id) {
  const [method, path] = id === undefined ? ["POST", issues] : ["PATCH", `${issues}/${id}`];
  return (await call(method, path, { title, body })).html_url;
}

export const closeIssue = (id) => call("PATCH", `${issues}/${id}`, { state: "closed" });
