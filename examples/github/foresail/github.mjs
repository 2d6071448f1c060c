// GitHub's REST API, as far as these scripts need it. No package: what has the token is read in a minute.

/** A variable that the workflow sets. */
export function variable(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

/** Calls the API; throws with GitHub's own words when it refuses. */
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

/** All entries of a list, page by page. */
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
