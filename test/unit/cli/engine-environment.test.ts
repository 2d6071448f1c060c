import assert from "node:assert/strict";
import { colorOfStream, colorsOf } from "../../../cli/terminal/terminal";
import { fleetEnvironment } from "../../../cli/engine/pulumi";

describe("the engine that foresail starts", () => {
  const rows: [string, boolean | undefined, NodeJS.ProcessEnv, string][] = [
    ["a terminal", true, {}, "always"],
    ["a terminal with an empty NO_COLOR, which asks for nothing", true, { NO_COLOR: "" }, "always"],
    ["a terminal with NO_COLOR", true, { NO_COLOR: "1" }, "never"],
    ["a file or pipe", undefined, {}, "never"],
    ["a pipe of a CI job", undefined, { CI: "true" }, "never"],
  ];
  for (const [name, isTTY, environment, color] of rows)
    it(`is shown on ${name} with color ${color}, like foresail's own texts`, () => {
      const stream = isTTY === undefined ? {} : { isTTY };
      assert.equal(colorOfStream(stream, environment), color);
      assert.equal(colorsOf(stream, environment).isColorSupported, color === "always");
    });

  it("runs diffs side by side, unless the user chose otherwise", () => {
    assert.equal(fleetEnvironment({}).PULUMI_PARALLEL_DIFF, "true");
    assert.equal(fleetEnvironment({ PULUMI_PARALLEL_DIFF: "false" }).PULUMI_PARALLEL_DIFF, "false");
  });

  it("keeps the user's backend, login and own node options", () => {
    const environment = fleetEnvironment({
      PULUMI_BACKEND_URL: "s3://theirs",
      NODE_OPTIONS: "--no-warnings",
    });
    assert.equal(environment.PULUMI_BACKEND_URL, "s3://theirs");
    assert.match(
      environment.NODE_OPTIONS ?? "",
      /^--no-warnings --require ".*lazy-modules\.js" --require ".*end-with-engine\.js" --require ".*early-handlers\.js"$/,
    );
    assert.equal(fleetEnvironment(environment).NODE_OPTIONS, environment.NODE_OPTIONS);
  });
});
