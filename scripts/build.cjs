// `npm run build`: compiles the program and links node_modules/foresail to this folder, because a resource's state names
// its code as require("foresail/handlers") (docs/adr/0002-one-line-providers.md). `npm ci` runs no scripts (.npmrc).
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");

if (!fs.existsSync(path.join(root, "node_modules"))) {
  console.error(`foresail: the dependencies are not installed; run: npm ci`);
  process.exit(1);
}
const link = path.join(root, "node_modules", "foresail");
if (!fs.existsSync(link) || fs.realpathSync(link) !== fs.realpathSync(root)) {
  fs.rmSync(link, { recursive: true, force: true });
  fs.symlinkSync("..", link, "junction");
}

try {
  execFileSync(process.execPath, [require.resolve("typescript/bin/tsc"), "--build"], {
    cwd: root,
    stdio: "inherit",
  });
} catch {
  console.error(
    "foresail: the TypeScript sources did not compile; fix the errors above, then run: npm run build",
  );
  process.exit(1);
}

require("./describe-arguments.cjs").describeArguments(path.join(root, "bin"));
