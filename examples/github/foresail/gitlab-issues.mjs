// The issues of a GitLab project that the owner of $FORESAIL_GITLAB_TOKEN has opened, each found by the marker in its first
// line. A job's own token can't write issues.
import { variable } from "./github.mjs";

const api = variable("CI_API_V4_URL");
const issues = `${api}/projects/${encodeURIComponent(variable("CI_PROJECT_ID"))}/issues`;
const PAGE = 100;

/** Calls the API; throws with GitLab's message when it refuses. */
async function call(method, url, body) {
  const answer = await fetch(url, {
    method,
    headers: { "private-token": variable("FORESAIL_GITLAB_TOKEN"), "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
  });
  const [path] = url.slice(api.length).split("?");
  if (!answer.ok) throw new Error(`${method} ${path} was refused (${answer.status}): ${await answer.text()}`);
  return answer.json();
}

/** Returns the open issue with a marker; undefined without one. Issues of others are left out. */
export async function findIssue(marker) {
  const { id: author } = await call("GET", `${api}/user`);
  for (let page = 1; ; page++) {
    const query = `state=opened&scope=all&author_id=${author}&per_page=${PAGE}&page=${page}`;
    const open = await call("GET", `${issues}?${query}`);
    const found = open.find(
      (issue) => issue.author?.id === author && (issue.description ?? "").split("\n", 1)[0] === marker,
    );
    if (found) return { id: found.iid, address: found.web_url };
    if (open.length < PAGE) return undefined;
  }
}

/** Opens an issue, or changes the one with this number. @returns its address */
export async function writeIssue({ title, body }, id) {
  const [method, url] = id === undefined ? ["POST", issues] : ["PUT", `${issues}/${id}`];
  return (await call(method, url, { title, description: body })).web_url;
}

export const closeIssue = (id) => call("PUT", `${issues}/${id}`, { state_event: "close" });
