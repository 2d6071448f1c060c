// Checks the registry's signature of every installed package. Where that is not possible, such as with a mirror that has
// no signatures or without access to the keys, it says so and succeeds; package-lock.json still pins each package's hash.
const { spawnSync } = require("node:child_process");

const audit = spawnSync("npm", ["audit", "signatures", "--json", "--fetch-retries=0"], {
  encoding: "utf8",
  timeout: 120_000,
});
const { error, invalid = [], missing = [] } = read(audit.stdout);
const unsigned = [...invalid, ...missing].map(({ name, version }) => `${name}@${version}`);

if (unsigned.length > 0) {
  console.error(
    `signatures: wrong or missing for ${unsigned.join(", ")}; compare them with package-lock.json`,
  );
  process.exitCode = 1;
} else if (error || audit.status !== 0)
  console.log(`signatures: not checked: ${error?.summary || audit.error?.message || "npm gave no reason"}`);
else console.log("signatures: every package has a valid one");

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { error: { summary: "npm printed no JSON" } };
  }
}
