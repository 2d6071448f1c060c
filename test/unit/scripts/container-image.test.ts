import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";
import { PULUMI_VERSION } from "../../../cli/fleet/plan/export/github-steps";

const RECIPE = readFileSync(path.join(projectFolder, "Containerfile"), "utf8");
const { devDependencies } = JSON.parse(readFileSync(path.join(projectFolder, "package.json"), "utf8")) as {
  devDependencies: Record<string, string>;
};

describe("the recipe of the container image", () => {
  it("installs the SDKs that foresail is tested with, and the plugin of each", () => {
    const sdks = [...RECIPE.matchAll(/(@pulumi\/\w+)@(\d+\.\d+\.\d+)/g)].map(([, name = "", version]) => [
      name,
      version,
    ]);
    assert.deepEqual(
      sdks.map(([name]) => name),
      ["@pulumi/pulumi", "@pulumi/command", "@pulumi/kubernetes", "@pulumi/openstack", "@pulumi/policy"],
    );
    for (const [name = "", version] of sdks) assert.equal(version, devDependencies[name], name);
    const plugins = [...RECIPE.matchAll(/plugin install resource (\w+) (\S+)/g)].map(([, name, version]) => [
      `@pulumi/${name}`,
      version,
    ]);
    assert.deepEqual(plugins, sdks.slice(1, 4));
  });

  it("has the engine that foresail is tested with", () =>
    assert.match(RECIPE, new RegExp(`^ARG BASE=\\S+:${PULUMI_VERSION.replaceAll(".", "\\.")}(-|$)`, "m")));

  it("runs as a user without rights", () => {
    const [, user = ""] = /^USER (\S+)$/m.exec(RECIPE) ?? [];
    assert.match(RECIPE, new RegExp(`useradd --uid [1-9]\\d+ .* ${user}\\b`));
    assert.equal(RECIPE.match(/^USER /gm)!.length, 1);
  });
});
