import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pageOf } from "../../../lib/pages";
import { projectFolder } from "../../../sandbox/paths";
import { filesBelow } from "../docs/project";

describe("a page that a message names", () => {
  it("is in the repository of a published package, at its version", () => {
    const repository = { url: "git+https://git.example.org/o/r.git" };
    assert.equal(
      pageOf("regions", { version: "1.2.3", repository }),
      "https://git.example.org/o/r/blob/v1.2.3/docs/regions.md",
    );
  });

  it("is a file, as seen from the folder of the run, where no repository is named", () => {
    const folder = path.join(process.cwd(), "node_modules", "foresail");
    assert.equal(pageOf("regions", { version: "1.2.3" }, folder), "node_modules/foresail/docs/regions.md");
  });

  it("exists, and is named by no message in another way", () => {
    const sources = ["cli", "components", "lib", "policy", "providers", "stacks"].flatMap((folder) =>
      filesBelow(folder, ".ts"),
    );
    const texts = sources.map(
      (file) => [file, readFileSync(path.join(projectFolder, file), "utf8")] as const,
    );
    const pages = texts.flatMap(([, text]) =>
      [...text.matchAll(/pageOf\("([\w-]+)"\)/g)].map(([, page]) => page!),
    );
    assert.ok(pages.length > 4);
    for (const page of pages) assert.ok(existsSync(path.join(projectFolder, "docs", `${page}.md`)), page);
    // the descriptions of the schema are read beside the pages
    const others = texts.flatMap(([file, text]) =>
      file.startsWith("stacks/schema/") || !/^(?!\s*(\/\/|\/?\*)).*["`][^"`\n]*\bdocs\/[\w-]+\.md/m.test(text)
        ? []
        : [file],
    );
    assert.deepEqual(others, []);
  });
});
