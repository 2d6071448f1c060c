import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { linkPackage } from "../../../../lib/pulumi/package-link";

describe("the link of a project to the package that its program loaded", () => {
  let folder: string;
  let project: string;
  let link: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-link-"));
    project = path.join(folder, "app");
    link = path.join(project, "node_modules", "foresail");
    mkdirSync(project);
    writeFileSync(path.join(project, "Pulumi.yaml"), "name: app\n");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Installs a version of the package below a library. @returns its folder */
  function install(where: string): string {
    const installed = path.join(folder, where, "foresail");
    mkdirSync(installed, { recursive: true });
    const exports = { "./handlers": "./handlers.js" };
    writeFileSync(path.join(installed, "package.json"), JSON.stringify({ name: "foresail", exports }));
    writeFileSync(path.join(installed, "handlers.js"), "");
    return installed;
  }
  const depend = (dependencies: object) =>
    writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "app", dependencies }));
  const assertLinked = (installed: string) => assert.equal(realpathSync(link), realpathSync(installed));

  it("is made where the project has none, and stays", () => {
    depend({});
    const installed = install("library/node_modules");
    for (let times = 0; times < 2; times += 1) linkPackage(project, installed);
    assertLinked(installed);
  });

  it("follows the package when the library gets another version of it", () => {
    depend({});
    const [former, next] = [install("store/1"), install("store/2")];
    linkPackage(project, former);
    linkPackage(project, next);
    assertLinked(next);
    // the package manager removes the former one
    rmSync(next, { recursive: true });
    linkPackage(project, former);
    assertLinked(former);
    assert.deepEqual(readdirSync(path.dirname(link)), ["foresail"]);
  });

  it("is the package manager's where the project depends on foresail itself", () => {
    depend({ foresail: "0.1.0" });
    const own = install("store/own");
    mkdirSync(path.dirname(link));
    symlinkSync(own, link);
    linkPackage(project, install("store/other"));
    assertLinked(own);
  });

  it("is not made outside of a project, where tests run", () => {
    rmSync(path.join(project, "Pulumi.yaml"));
    linkPackage(project, install("store/1"));
    assert.equal(existsSync(link), false);
  });

  it("fails with the way on where the package manager's link leads to nothing", () => {
    depend({ foresail: "0.1.0" });
    mkdirSync(path.dirname(link));
    symlinkSync("gone", link);
    assert.throws(() => linkPackage(project, install("store/1")), /npm install foresail .*leads to nothing/);
    assert.equal(readlinkSync(link), "gone");
  });

  it("fails with the way on where it can't be made", () => {
    depend({});
    writeFileSync(path.join(project, "node_modules"), "a file");
    assert.throws(
      () => linkPackage(project, install("store/1")),
      /add it to the dependencies .* npm install foresail/,
    );
  });
});
