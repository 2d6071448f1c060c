// Keeps one issue for the drift of $STACK, found by the hidden marker in its first line: opens it, updates it, and closes
// it when $OUT/drift.json lists no file any more. It names files, and shows no content of them. On GitLab without
// $FORESAIL_GITLAB_TOKEN there is no issue, and drift fails the job.
import { readFileSync } from "node:fs";
import { variable } from "./github.mjs";

const MOST = 200;
const LONGEST = 200;
const DRIFT = 10;
const stack = variable("STACK");
const marker = `<!-- foresail-drift:${stack} -->`;

const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
const code = (text) => `\`${cut(text.replace(/[`\s\p{Cc}]+/gu, " "))}\``;
const { machines } = JSON.parse(readFileSync(`${variable("OUT")}/drift.json`, "utf8"));
const lines = machines.flatMap(({ node, files = [] }) =>
  files.map((file) => `- ${code(node)}: ${code(file.path)} (${file.difference})`),
);
const more = lines.length > MOST ? [`- and ${lines.length - MOST} more`] : [];
const listed = [...lines.slice(0, MOST), ...more];
const title = `foresail: others changed files on machines of ${stack}`;
const body = [
  marker,
  `Files on the machines of ${code(stack)} differ from what foresail wrote. To see the differences: ${code(`foresail drift --stack ${stack}`)}`,
  "",
  ...listed,
].join("\n");

const isGitlab = process.env.GITLAB_CI === "true";
if (isGitlab && !process.env.FORESAIL_GITLAB_TOKEN) {
  for (const line of lines.length > 0 ? [title, ...listed] : [`no drift on ${stack}`]) console.log(line);
  if (lines.length > 0) console.log("To have an issue instead, set the variable FORESAIL_GITLAB_TOKEN.");
  process.exit(lines.length > 0 ? DRIFT : 0);
}
const { findIssue, writeIssue, closeIssue } = await import(
  isGitlab ? "./gitlab-issues.mjs" : "./github-issues.mjs"
);
const earlier = await findIssue(marker);
if (lines.length === 0) {
  if (earlier) await closeIssue(earlier.id);
  console.log(earlier ? `closed the issue ${earlier.address}` : `no drift on ${stack}`);
} else {
  const address = await writeIssue({ title, body }, earlier?.id);
  console.log(`${earlier ? "updated" : "opened"} the issue ${address}`);
}
