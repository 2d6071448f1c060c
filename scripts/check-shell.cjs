// Checks what the shell files for machines say about each other in their first lines: `# needs:` lists the files that
// precede one in a script, `# given:` those that TypeScript adds for some machines, `# replaces:` the functions of these
// that it defines anew. Refuses a call of a function that is in none of them. Run in the project's root.
const { execFileSync } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");

const FOLDER = "providers/kubeadm/machine/";
/** Precede each step, except for those that only read. */
const FRAME = ["common/environment", "common/frame", "common/system", "common/owner"];

const listed = (pattern) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", pattern], {
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file !== "" && existsSync(file));
const texts = new Map(
  listed(`${FOLDER}*.sh`).map((file) => [file.slice(FOLDER.length, -3), readFileSync(file, "utf8")]),
);
const code = listed(`${FOLDER}*.ts`).map((file) => readFileSync(file, "utf8"));
const reads = new Set(
  code.flatMap((text) => [...text.matchAll(/\breading\("([\w-]+)"/g)].map(([, name]) => name)),
);
const words = (name, key) => new RegExp(`^# ${key}: (.*)$`, "m").exec(texts.get(name))?.[1].split(" ") ?? [];
const functionsOf = (name) => [...(texts.get(name) ?? "").matchAll(/^(\w+)\(\) /gm)].map(([, each]) => each);
const known = new Set([...texts.keys()].flatMap(functionsOf));
/** Returns the functions of other files that a file calls: those of one word could be a word of a sentence. */
function callsOf(name) {
  const text = texts.get(name).replace(/^\s*#.*$/gm, "");
  const found = text.matchAll(
    /(?:^|[;&|({!]|\bthen|\belse|\bdo|\bif|\bwhile|\buntil)\s*(\w+)(?=[\s;)])(?!\(\))/gm,
  );
  return new Set([...found].map(([, each]) => each).filter((each) => known.has(each) && each.includes("_")));
}

const parts = new Set([
  ...FRAME,
  ...[...texts.keys()].flatMap((name) => [...words(name, "needs"), ...words(name, "given")]),
]);
const issues = [];
function closureOf(name, path = []) {
  if (path.includes(name)) throw new Error(`${[...path, name].join(" needs ")}`);
  return [...new Set(words(name, "needs").flatMap((each) => closureOf(each, [...path, name]))), name];
}
for (const name of texts.keys()) {
  const unknown = [...words(name, "needs"), ...words(name, "given")].filter((each) => !texts.has(each));
  if (unknown.length > 0) issues.push(`${name}.sh names no file: ${unknown.join(", ")}`);
  if (unknown.length > 0 || parts.has(name)) continue;
  const isStep = !name.startsWith("node-agent/") && !reads.has(name.split("/")[1]);
  const own = [...new Set([...(isStep ? FRAME : FRAME.slice(0, 1)), ...closureOf(name)])];
  const given = own.flatMap((file) => words(file, "given")).flatMap((each) => closureOf(each));
  const defined = new Set([...own, ...given].flatMap(functionsOf));
  for (const file of own) {
    const missing = [...callsOf(file)].filter((each) => !defined.has(each));
    if (missing.length > 0)
      issues.push(`${name}.sh (${file}) calls what its files do not define: ${missing.join(", ")}`);
  }
  const seen = new Set();
  for (const file of own)
    for (const each of functionsOf(file)) {
      if (seen.has(each) && !words(file, "replaces").includes(each))
        issues.push(`${name}.sh has two functions ${each}; the second one is in ${file}.sh`);
      seen.add(each);
    }
}
for (const issue of issues) console.error(issue);
process.exitCode = issues.length > 0 ? 1 : 0;
