// Writes the outputs `stacks` and `wave-<name>`: JSON lists of the stacks that a change touches. The argument says which
// change: `branch`, the files in this checkout that are not yet in HEAD; `merge`, those of the pull request that became
// $GITHUB_SHA; `all`, every stack.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { changedFiles, mergedPull, variable } from "./github.mjs";

const run = (command, ...args) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 26 });

/** Returns the changed paths; undefined for those in this checkout. */
async function paths(change) {
  if (change === "branch") return undefined;
  if (change === "all") return run("git", "ls-files", "-z").split("\0").filter(Boolean);
  if (change !== "merge") throw new Error("name the change: branch, merge or all");
  const sha = variable("GITHUB_SHA");
  const pull = await mergedPull(sha);
  if (pull !== undefined) return changedFiles(pull.number);
  console.log(
    `::error::Commit ${sha} of main comes from no merged pull request, or from several; nothing was changed.`,
  );
  process.exit(1);
}

const folder = mkdtempSync(path.join(process.env.RUNNER_TEMP ?? tmpdir(), "foresail-changed."));
try {
  const changed = await paths(process.argv[2]);
  const file = path.join(folder, "paths.json");
  if (changed !== undefined) writeFileSync(file, JSON.stringify(changed));
  const [command, ...args] = (process.env.FORESAIL ?? "npx --no-install foresail").split(" ");
  const source = changed === undefined ? ["--since", "HEAD"] : ["--paths", file];
  const { waves } = JSON.parse(run(command, ...args, "fleet", "changed", "--json", ...source));
  const outputs = {
    stacks: Object.values(waves).flat(),
    ...Object.fromEntries(Object.entries(waves).map(([wave, stacks]) => [`wave-${wave}`, stacks])),
  };
  for (const [name, stacks] of Object.entries(outputs))
    appendFileSync(variable("GITHUB_OUTPUT"), `${name}=${JSON.stringify(stacks)}\n`);
  console.log(`touched: ${outputs.stacks.join(", ") || "no stack"}`);
} finally {
  rmSync(folder, { recursive: true });
}
