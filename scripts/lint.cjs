// `npm run lint`: every checker, two at a time, and all of them, whatever the others found. `npm run lint -- CHECKER…` runs
// some. What did not change since the last run is not read again: eslint and prettier keep that in node_modules/.cache. A rule
// that depends on the types of another file may need `npm run lint -- --all`, as in continuous integration.
const { spawn } = require("node:child_process");
const os = require("node:os");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const cache = (tool) => [
  "--cache",
  "--cache-strategy=content",
  `--cache-location=node_modules/.cache/lint/${tool}`,
];
const imported = "package stacks components providers lib cli policy sandbox test bench scripts".split(" ");

/** The longest ones first: programs of node_modules/.bin, or scripts of this folder. */
const CHECKERS = {
  eslint: ["eslint", ".", ...cache("eslint")],
  prettier: ["prettier", "--check", "--log-level=warn", ".", ...cache("prettier")],
  imports: ["depcruise", "--config", ".dependency-cruiser.cjs", "--output-type=err", "index.ts", ...imported],
  shell: ["sh", "scripts/lint-shell.sh"],
  package: ["node", "scripts/check-package.cjs"],
  names: ["node", "scripts/check-names.cjs"],
  minors: ["node", "scripts/kubernetes-minors.cjs", "--age"],
};

const given = process.argv.slice(2);
const isAll = given.includes("--all") || process.env.CI === "true";
const chosen = given.filter((argument) => argument !== "--all");
const unknown = chosen.find((name) => !(name in CHECKERS));
if (unknown !== undefined) {
  console.error(`lint: ${unknown} is not a checker; it is one of: ${Object.keys(CHECKERS).join(", ")}`);
  process.exit(2);
}

/** Runs a checker. @returns whether it found nothing */
function check(name) {
  const [program, ...args] = CHECKERS[name].filter((argument) => !isAll || !argument.startsWith("--cache"));
  const started = Date.now();
  const bin = path.join(root, "node_modules", ".bin");
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (printed += text));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 1, why: error.message }));
    child.once("close", (code) => resolve({ code, why: printed.trim() }));
  }).then(({ code, why }) => {
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds} s)${why === "" ? "" : `\n${why}`}`);
    return code === 0;
  });
}

async function main() {
  const waiting = chosen.length > 0 ? chosen : Object.keys(CHECKERS);
  let isClean = true;
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      if (!(await check(name))) isClean = false;
  };
  await Promise.all(Array.from({ length: Math.min(2, os.availableParallelism()) }, work));
  process.exitCode = isClean ? 0 : 1;
}

void main();
