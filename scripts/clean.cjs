// Removes what the build made. Clusters of the sandbox and their state (.sandbox) stay: `npm stop` takes those down.
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
for (const made of ["bin"]) fs.rmSync(path.join(root, made), { recursive: true, force: true });
