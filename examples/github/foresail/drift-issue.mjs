// Keeps one issue for the drift of $STACK, found by the hidden marker in its first line: opens it, updates it, and closes
// it when $OUT/drift.json lists no file any more. It names files, and shows no content of them.
import { readFileSync } from "node:fs";
import { all, AUTHOR, call, variable } from "./github.mjs";

const MOST = 200;
const stack = variable("STACK");
const marker = `<!-- foresail-drift:${stack} -->`;
const issues = `/repos/${variable("GITHUB_REPOSITORY")}/issues`;

const code = (text) => `\`${text.replace(/[`\s]+/g, " ")}\``;
const { machines } = JSON.parse(readFileSync(`${variable("OUT")}/drift.json`, "utf8"));
const lines = machines.flatMap(({ node, files = [] }) =>
  files.map((file) => `- ${code(node)}: ${code(file.path)} (${file.difference})`),
);
const more = lines.length > MOST ? [`- and ${lines.length - MOST} more`] : [];
const title = `foresail: others changed files on machines of ${stack}`;
const body = [
  marker,
  `Files on the machines of ${code(stack)} differ from what foresail wrote. To see the differences: ${code(`foresail drift --stack ${stack}`)}`,
  "",
  ...lines.slice(0, MOST),
  ...more,
].join("\n");

const open = await all(`${issues}?state=open&creator=${encodeURIComponent(AUTHOR)}`);
const earlier = open.find(
  (issue) =>
    issue.user?.login === AUTHOR && !issue.pull_request && (issue.body ?? "").split("\n", 1)[0] === marker,
);
if (lines.length === 0) {
  if (earlier) await call("PATCH", `${issues}/${earlier.number}`, { state: "closed" });
  console.log(earlier ? `closed the issue ${earlier.html_url}` : `no drift on ${stack}`);
} else {
  const { html_url: address } = earlier
    ? await call("PATCH", `${issues}/${earlier.number}`, { title, body })
    : await call("POST", issues, { title, body });
  console.log(`${earlier ? "updated" : "opened"} the issue ${address}`);
}
