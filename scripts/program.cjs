// The program that Pulumi runs: the compiled one, or a clear error if it was not compiled.
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const program = path.join(root, "bin", "index.js");

// `npm ci` in a clone removes the link by which state finds the code.
const isLinked =
  fs.existsSync(path.join(root, "node_modules", "foresail")) ||
  !fs.existsSync(path.join(root, "package-lock.json"));

if (!fs.existsSync(program) || !isLinked) {
  const { RunError } = require("@pulumi/pulumi");
  throw new RunError(
    `foresail is not compiled; run \`npm ci && npm run build\` in ${root}, then the same command again`,
  );
}

module.exports = require(program);
