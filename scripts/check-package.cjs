// `npm run lint -- package`: what npm would publish, by the rules of publint and of arethetypeswrong.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
/** Entry points without types: the program that Pulumi runs, and data. */
const UNTYPED = ["./program", "./schema.json"];

/** Returns the archive that `npm pack` makes. */
function pack(folder) {
  const args = ["pack", "--ignore-scripts", "--json", "--loglevel=error", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" }));
  return fs.readFileSync(path.join(folder, filename));
}

async function main() {
  const { publint } = await import("publint");
  const { formatMessage } = await import("publint/utils");
  const { checkPackage, createPackageFromTarballData } = await import("@arethetypeswrong/core");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "foresail-package-"));
  const archive = pack(folder);
  fs.rmSync(folder, { recursive: true });
  const tarball = archive.buffer.slice(archive.byteOffset, archive.byteOffset + archive.length);
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  const { problems = [] } = await checkPackage(createPackageFromTarballData(archive), {
    excludeEntrypoints: UNTYPED,
  });
  const words = [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg)}`),
    ...problems.map((problem) => `arethetypeswrong: ${JSON.stringify(problem)}`),
  ];
  for (const line of words) console.error(line);
  if (words.length > 0) process.exitCode = 1;
}

main().catch((error) => {
  console.error(`the package could not be checked: ${error.message}; run \`npm ci && npm run build\` first`);
  process.exitCode = 1;
});
