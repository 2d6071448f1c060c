import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

interface Manifest {
  readonly version: string;
  readonly [field: string]: unknown;
}

const release = createRequire(path.resolve("package.json"))("./scripts/release.cjs") as {
  faultsOf: (
    tag: string,
    files: { manifest: Manifest; lock: { packages: object }; changelog: string },
  ) => string[];
  notesOf: (changelog: string, tag: string, repository: string) => string;
  outputsOf: (tag: string) => Record<string, string>;
  addressed: (manifest: Manifest, repository: string) => Manifest;
};

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- Later.

## [1.2.0] - 2026-01-02

### Added

- Snapshots ([page](docs/backup.md#restore), [format](https://example.org/format), [here](#changelog)).

## [1.2.0-rc.1] - 2026-01-01

- A preview.

## [1.1.0] - 2025-12-01

## [1.0.0]

- Without a date.
`;

describe("a release", () => {
  const files = (version: string, locked = version) => ({
    manifest: { version },
    lock: { packages: { "": { version: locked } } },
    changelog: CHANGELOG,
  });
  const cases: readonly (readonly [string, string, ReturnType<typeof files>, readonly RegExp[]])[] = [
    ["is a tag of what is here", "v1.2.0", files("1.2.0"), []],
    ["may be a preview of a version", "v1.2.0-rc.1", files("1.2.0-rc.1"), []],
    [
      "needs the version in package.json",
      "v1.2.0",
      files("1.1.0", "1.2.0"),
      [/package\.json has version 1\.1/],
    ],
    ["needs the version in package-lock.json", "v1.2.0", files("1.2.0", "1.1.0"), [/package-lock\.json/]],
    ["needs a section", "v1.3.0", files("1.3.0"), [/no section "## \[1\.3\.0\] - <date>"/]],
    ["needs a section with a date", "v1.0.0", files("1.0.0"), [/no section/]],
    ["needs a section with text", "v1.1.0", files("1.1.0"), [/section of 1\.1\.0 in CHANGELOG\.md is empty/]],
    ["needs a version as tag", "v1.2", files("1.2"), [/^v1\.2 is not a tag of a version/]],
    ["takes no tag of another form", "1.2.0", files("1.2.0"), [/not a tag/]],
    ["takes no tag with a command in it", "v1.2.0-$(id)", files("1.2.0"), [/not a tag/]],
    ["tells all faults at once", "v9.0.0", files("1.2.0"), [/package\.json/, /package-lock/, /no section/]],
  ];
  for (const [title, tag, given, expected] of cases)
    it(title, () => {
      const faults = release.faultsOf(tag, given);
      assert.equal(faults.length, expected.length, faults.join("\n"));
      for (const [at, fault] of faults.entries()) assert.match(fault, expected[at]!);
    });

  it("is what npm installs by default, except a preview of a version", () => {
    assert.deepEqual(release.outputsOf("v1.2.0"), { version: "1.2.0", "dist-tag": "latest" });
    assert.deepEqual(release.outputsOf("v1.2.0-rc.1"), { version: "1.2.0-rc.1", "dist-tag": "next" });
  });

  it("has the notes of its own section, whose links lead to the files as of its tag", () =>
    assert.equal(
      release.notesOf(CHANGELOG, "v1.2.0", "https://git.example.org/o/r"),
      "### Added\n\n- Snapshots ([page](https://git.example.org/o/r/blob/v1.2.0/docs/backup.md#restore), " +
        "[format](https://example.org/format), [here](#changelog)).",
    ));

  it("packs the addresses of the repository that releases it, and changes no other field", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
    const { homepage, repository, bugs, ...others } = release.addressed(
      manifest,
      "https://git.example.org/o/r",
    );
    assert.deepEqual(others, manifest);
    assert.deepEqual(
      [homepage, repository, bugs],
      [
        "https://git.example.org/o/r#readme",
        { type: "git", url: "git+https://git.example.org/o/r.git" },
        { url: "https://git.example.org/o/r/issues" },
      ],
    );
  });
});
