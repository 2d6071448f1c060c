// The program that Pulumi runs: the compiled one, or a clear error if it was not compiled.
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const program = path.join(root, "bin", "index.js");

if (!fs.existsSync(program)) {
  const { RunError } = require("@pulumi/pulumi");
  throw new RunError(`foresail is not compiled; run \`npm ci\` in ${root}, then the same command again`);
}

module.exports = require(program);
