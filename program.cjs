// The program that Pulumi runs: the compiled one, or a clear error if it was not compiled. A folder of stack files names it
// as "main" in its package.json (docs/package.md#stack-files).
const fs = require("node:fs");
const path = require("node:path");

const root = __dirname;
const program = path.join(root, "bin", "index.js");

// `npm ci` and `npm install` in a clone remove the link by which state finds the code. One in a folder above stays.
const link = module.paths.map((folder) => path.join(folder, "foresail")).find((each) => fs.existsSync(each));
const isLinked =
  (link !== undefined && fs.realpathSync(link) === fs.realpathSync(root)) ||
  !fs.existsSync(path.join(root, "package-lock.json"));

if (!fs.existsSync(program) || !isLinked) {
  const { RunError } = require("@pulumi/pulumi");
  throw new RunError(
    `foresail is not compiled; run \`npm ci && npm run build\` in ${root}, then the same command again`,
  );
}

require("./bin/lib/pulumi/project-folder.js").enterProject();
module.exports = require(program);
