/*
 * What the release workflow decides (.github/workflows/release.yaml):
 *   node scripts/release.cjs check v1.2.3   ends with an error unless package.json, package-lock.json and CHANGELOG.md have
 *                                           this version; writes the outputs `version` and `dist-tag`
 *   node scripts/release.cjs notes v1.2.3   prints the version's section of CHANGELOG.md, with links that work outside a clone
 *   node scripts/release.cjs address        writes into package.json and the schemas where the project is, for the package of this run
 */
const fs = require("node:fs");

const TAG = /^v(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?)$/;

/** Returns a version's section of a changelog without its heading: undefined if there is none, or none with a date. */
function sectionOf(changelog, version) {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${version}] - `));
  const [heading = "", ...lines] = section?.split("\n") ?? [];
  return /^\S+ - \d{4}-\d\d-\d\d$/.test(heading) ? lines.join("\n").trim() : undefined;
}

/** Returns why a tag is not a release of what is here, all reasons at once. */
function faultsOf(tag, { manifest, lock, changelog }) {
  const [, version] = TAG.exec(tag) ?? [];
  if (version === undefined) return [`${tag} is not a tag of a version: v1.2.3, or v1.2.3-rc.1`];
  const section = sectionOf(changelog, version);
  return [
    ...(manifest.version === version ? [] : [`package.json has version ${manifest.version}, not ${version}`]),
    ...(lock.packages[""].version === version
      ? []
      : [`package-lock.json is not of version ${version}: npm install --package-lock-only`]),
    ...(section === undefined ? [`CHANGELOG.md has no section "## [${version}] - <date>"`] : []),
    ...(section === "" ? [`the section of ${version} in CHANGELOG.md is empty`] : []),
  ];
}

/** Returns the version of a tag, and npm's tag for it: a preview of a version is not what `npm install` takes. */
function outputsOf(tag) {
  const [, version, preview] = TAG.exec(tag);
  return { version, "dist-tag": preview === undefined ? "latest" : "next" };
}

/** Returns a version's notes. Their links to files lead to these files as of the tag. */
function notesOf(changelog, tag, repository) {
  return sectionOf(changelog, TAG.exec(tag)[1]).replace(
    /\]\((?![a-z]+:|#)([^)\s]+)\)/g,
    (_link, target) => `](${repository}/blob/${tag}/${target})`,
  );
}

/** Returns package.json with the addresses that follow from the repository's. */
function addressed(manifest, repository) {
  return {
    ...manifest,
    homepage: `${repository}#readme`,
    repository: { type: "git", url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
  };
}

/** Returns a schema that says where it is as of a version, so that it can be named from anywhere. */
function identified({ $schema, ...schema }, { name, version, repository }) {
  return { $schema, $id: `${repository}/raw/v${version}/docs/${name}`, ...schema };
}

/** Returns the address of the repository in which a workflow runs. */
function repositoryOf({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name }) {
  if (!server || !name) throw new Error("GITHUB_SERVER_URL and GITHUB_REPOSITORY say where the project is");
  return `${server}/${name}`;
}

function main([command, tag = ""]) {
  const read = (file) => fs.readFileSync(file, "utf8");
  const changelog = read("CHANGELOG.md");
  const manifest = JSON.parse(read("package.json"));
  switch (command) {
    case "check": {
      const faults = faultsOf(tag, { manifest, lock: JSON.parse(read("package-lock.json")), changelog });
      for (const fault of faults) console.log(`::error::${fault}`);
      if (faults.length > 0) return 1;
      const lines = Object.entries(outputsOf(tag)).map(([name, value]) => `${name}=${value}\n`);
      fs.appendFileSync(process.env.GITHUB_OUTPUT || "/dev/null", lines.join(""));
      return 0;
    }
    case "notes":
      console.log(notesOf(changelog, tag, repositoryOf(process.env)));
      return 0;
    case "address": {
      const repository = repositoryOf(process.env);
      const write = (file, content) => fs.writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
      write("package.json", addressed(manifest, repository));
      for (const name of fs.readdirSync("docs").filter((file) => file.endsWith(".schema.json")))
        write(
          `docs/${name}`,
          identified(JSON.parse(read(`docs/${name}`)), { name, version: manifest.version, repository }),
        );
      return 0;
    }
    default:
      console.error("name what to do: check TAG, notes TAG or address");
      return 2;
  }
}

if (require.main === module) process.exitCode = main(process.argv.slice(2));

module.exports = { addressed, faultsOf, identified, notesOf, outputsOf, sectionOf };
