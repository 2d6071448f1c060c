import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { pages, PROJECT, read } from "./project";

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function withoutCode(text: string): string {
  return text.replace(/^( *)(```|~~~).*?^\1\2$/gms, "");
}

function anchors(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
}

/** Targets of `[words](target)`, those of other sites left out. */
function links(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

describe("documentation pages", () => {
  it("are found", () => {
    for (const page of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/adr/README.md"])
      assert.ok(pages().includes(page), page);
  });

  for (const page of pages()) {
    it(`${page}: every relative link leads to a file, and to a heading in it`, () => {
      const broken = links(read(page)).filter((link) => {
        const [file = "", anchor] = link.split("#");
        const target = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
        if (!existsSync(path.join(PROJECT, target))) return true;
        return anchor !== undefined && !anchors(read(target)).includes(anchor);
      });
      assert.deepEqual(broken, []);
    });
  }

  it("name only npm scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const unknown = pages().flatMap((page) =>
      [...read(page).matchAll(/\bnpm (?:run(?: -s| --silent)? )?([a-z][a-z0-9:]*)/g)]
        .filter(([command, script = ""]) => command.includes("npm run") && !(script in scripts))
        .map(([command]) => `${page}: ${command}`),
    );
    assert.deepEqual(unknown, []);
    for (const script of ["start", "stop", "test"]) assert.ok(script in scripts, script);
  });

  it("list every decision in the index", () => {
    const index = read("docs/adr/README.md");
    const decisions = pages().filter((page) => /^docs\/adr\/\d{4}-/.test(page));
    const numbers = decisions.map((page) => Number(path.basename(page).slice(0, 4)));
    assert.deepEqual(
      numbers,
      numbers.map((_number, index) => index + 1),
    );
    assert.ok(decisions.length > 0);
    for (const page of decisions) assert.ok(index.includes(`(${path.basename(page)})`), page);
  });
});
