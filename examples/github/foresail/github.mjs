// GitHub's REST API, as far as these scripts use it. No package, so that the code that gets the token is short.

/** Returns a variable that the workflow sets. */
export function variable(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

/** Calls the API; throws with GitHub's message when it refuses. */
export async function call(method, path, body) {
  const answer = await fetch(`${process.env.GITHUB_API_URL ?? "https://api.github.com"}${path}`, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${variable("GITHUB_TOKEN")}`,
      "x-github-api-version": "2022-11-28",
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  if (!answer.ok) throw new Error(`${method} ${path} was refused (${answer.status}): ${await answer.text()}`);
  return answer.json();
}

/** Returns all entries of a list, page by page. */
export async function all(path, entriesOf = (page) => page) {
  const entries = [];
  for (let page = 1; ; page++) {
    const more = entriesOf(
      await call("GET", `${path}${path.includes("?") ? "&" : "?"}per_page=100&page=${page}`),
    );
    entries.push(...more);
    if (more.length < 100) return entries;
  }
}

/** The author of comments and issues that are made with a workflow's token. */
export const AUTHOR = "github-actions[bot]";

/** Returns the workflow's comments on a pull request that begin with a marker; other authors' are left out. */
export async function workflowComments(pullRequest, isMarker) {
  const comments = await all(`/repos/${variable("GITHUB_REPOSITORY")}/issues/${pullRequest}/comments`);
  return comments.filter(
    ({ user, body }) => user?.login === AUTHOR && isMarker((body ?? "").split("\n", 1)[0]),
  );
}

/** The last line of a comment: the plan that it shows. */
export const PLAN_LINE = /^Plan: SHA-256 `([0-9a-f]{64})`$/;
export const planLine = (digest) => `Plan: SHA-256 \`${digest}\``;

/** Returns the plan of a stack in the last line of the comment on a fleet. */
export function planIn(line, stack) {
  const plans = /^<!-- foresail-plans:((?: [\w.-]+=[0-9a-f]{64})*) -->$/.exec(line)?.[1].split(" ") ?? [];
  return plans.find((plan) => plan.startsWith(`${stack}=`))?.slice(stack.length + 1);
}

const repository = () => `/repos/${variable("GITHUB_REPOSITORY")}`;

/**
 * Returns the pull request that became a commit of main; undefined for any other commit, and for one that several pull
 * requests became, since each of them may have been reviewed as something else.
 */
export async function mergedPull(sha) {
  const pulls = await all(`${repository()}/commits/${sha}/pulls`);
  const merged = pulls.filter(
    ({ merged_at, base, merge_commit_sha }) => merged_at && base.ref === "main" && merge_commit_sha === sha,
  );
  return merged.length === 1 ? merged[0] : undefined;
}

/** Returns the files that a pull request changes; a renamed file changes two places. */
export async function changedFiles(number) {
  const files = await all(`${repository()}/pulls/${number}/files`);
  return files.flatMap(({ filename, previous_filename: before }) => [filename, ...(before ? [before] : [])]);
}
