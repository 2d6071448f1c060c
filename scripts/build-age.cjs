const fs = require("node:fs");
const path = require("node:path");

const modified = (file) => (fs.existsSync(file) ? fs.statSync(file).mtimeMs : 0);

/**
 * Returns whether a TypeScript source is newer than the build. tsconfig.json says which files are sources, so that none
 * is forgotten here.
 */
function isBuildOutdated(root) {
  const configuration = path.join(root, "tsconfig.json");
  const { include, exclude = [] } = JSON.parse(fs.readFileSync(configuration, "utf8"));
  const newest = (name) => {
    const file = path.join(root, name);
    if (exclude.includes(name) || !fs.existsSync(file)) return 0;
    if (!fs.statSync(file).isDirectory()) return name.endsWith(".ts") ? modified(file) : 0;
    return Math.max(0, ...fs.readdirSync(file).map((entry) => newest(`${name}/${entry}`)));
  };
  const built = modified(path.join(root, "bin", "tsconfig.tsbuildinfo"));
  return built < Math.max(modified(configuration), ...include.map(newest));
}

module.exports = { isBuildOutdated, modified };
