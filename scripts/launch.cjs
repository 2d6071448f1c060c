// Starts a compiled program of the project: `node scripts/launch.cjs sandbox/cli start`. Prepares what it needs first,
// so that a fresh clone needs one command: the dependencies when the lock file changed, the build when a source did.
const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { isBuildOutdated, modified } = require("./build-age.cjs");

const root = path.resolve(__dirname, "..");

function step(what, command, args) {
  const started = Date.now();
  console.log(`… ${what}`);
  const ended = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (ended.status !== 0) {
    console.error(`foresail: ${what} failed; fix the errors above, then run: ${command} ${args.join(" ")}`);
    process.exit(ended.status ?? 1);
  }
  console.log(`✓ ${what} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`foresail: node ${process.versions.node} is too old; install node 20.19 or newer`);
  process.exit(1);
}

const installed = path.join(root, "node_modules", ".package-lock.json");
// npm ci removes the link
const isLinked = () => fs.existsSync(path.join(root, "node_modules", "foresail", "package.json"));
if (modified(installed) < modified(path.join(root, "package-lock.json")))
  step("dependencies of package-lock.json", "npm", ["ci", "--no-fund", "--no-audit"]);
if (!isLinked() || isBuildOutdated(root)) step("build", "npm", ["run", "--silent", "build"]);

const [program, ...args] = process.argv.slice(2);
const child = spawn(process.execPath, [path.join(root, "bin", `${program}.js`), ...args], {
  cwd: root,
  stdio: "inherit",
});
// the terminal sends an interrupt to the whole group; the program decides what it means
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
