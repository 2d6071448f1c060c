// Refuses a name that the product exports twice where one file could import both: clouds and Azimuth do not import each
// other, so they may use one word for their own things. Shell functions likewise. Run in the project's root.
const { execFileSync } = require("node:child_process");
const { readFileSync } = require("node:fs");

const PRODUCT = ["components", "lib", "providers", "stacks", "cli", "policy", "package", "index.ts"];
const EXPORT =
  /^export (?:declare |abstract |async )*(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;
/** Every dynamic resource exports its handlers under the name that the table of handlers reads. */
const CONTRACTS = ["handlers"];

/** Returns the system of a file that no other system imports, or "" for code that all may import. */
const apartOf = (file) =>
  /^(?:providers|components)\/(azimuth|machine-pool|openstack|tumblebug|helm|collector|stack)\//.exec(
    file,
  )?.[1] ?? "";

const filesOf = new Map();
for (const file of execFileSync("git", ["ls-files", "--", ...PRODUCT], { encoding: "utf8" }).split("\n")) {
  if (!file.endsWith(".ts")) continue;
  for (const [, name] of readFileSync(file, "utf8").matchAll(EXPORT))
    filesOf.set(name, new Set([...(filesOf.get(name) ?? []), file]));
}
const isRepeated = (files) => {
  const systems = [...files].map(apartOf);
  return systems.length > 1 && (systems.includes("") || new Set(systems).size < systems.length);
};
const repeated = [...filesOf].filter(([name, files]) => !CONTRACTS.includes(name) && isRepeated(files));
for (const [name, files] of repeated) console.error(`${name} is exported by ${[...files].join(", ")}`);
process.exitCode = repeated.length > 0 ? 1 : 0;
