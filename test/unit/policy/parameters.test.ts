import assert from "node:assert/strict";
import { assertParameters, parameterIssues } from "../../../policy/plan/parameters";
import { packRules } from "../../../policy/plan/rules";
import { issueLines } from "../../../lib/validation/validation-issue";

const { resources, stack } = packRules("2026-11-26");
const all = [...resources, ...stack];
const parametersOf = (name: string) => all.find((rule) => rule.name === name)?.parameters ?? {};
const said = (name: string, configured: unknown) =>
  issueLines(parameterIssues(parametersOf(name), configured));

describe("parameters of policies", () => {
  it("have the defaults of each rule among what it accepts", () => {
    for (const { name, parameters } of all) {
      const defaults = Object.entries(parameters).map(([key, schema]) => [
        key,
        (schema as { default: unknown }).default,
      ]);
      assert.deepEqual(said(name, Object.fromEntries(defaults)), [], name);
    }
    assert.deepEqual(said("odd-control-planes", undefined), []);
  });

  it("are refused when a rule does not have them, or with another type", () => {
    assert.deepEqual(said("odd-control-planes", { minimun: 1 }), [
      'minimun: is not known; did you mean "minimum"?',
    ]);
    assert.deepEqual(said("odd-control-planes", { minimum: "1" }), [
      "minimum: must be a whole number of 0 or more",
    ]);
    assert.deepEqual(said("odd-control-planes", { minimum: -1 }), [
      "minimum: must be a whole number of 0 or more",
    ]);
    assert.deepEqual(said("backups", { objects: ["Schedule *", 1] }), ["objects[1]: must be a text"]);
    assert.deepEqual(said("backups", { objects: "Schedule *" }), ["objects: must be a list"]);
    assert.deepEqual(said("protected-control-planes", { minimum: 1 }), [
      "minimum: is not known; nothing may be set here",
    ]);
    assert.throws(
      () => assertParameters("odd-control-planes", parametersOf("odd-control-planes"), { minimun: 1 }),
      /parameters of the policy odd-control-planes are not valid: minimun: .*; correct the policy pack's configuration/,
    );
  });
});
