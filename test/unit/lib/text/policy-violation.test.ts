import assert from "node:assert/strict";
import {
  describeViolation,
  formatViolation,
  isMandatory,
  parseViolation,
  type PolicyViolation,
} from "../../../../lib/text/policy-violation";

const VIOLATION: PolicyViolation = {
  rule: "pinned-host-keys",
  resource: "HostKey onprem-cp-1-host-key",
  problem: "its key is\nunknown",
  fix: "add hostKey",
  isMandatory: true,
};

describe("a violated policy", () => {
  it("is one line, from which it is read again", () => {
    const line = formatViolation(VIOLATION);
    assert.doesNotMatch(line, /\n/);
    assert.deepEqual(parseViolation(line), VIOLATION);
  });

  for (const line of [
    "",
    "another line",
    "foresail-policy",
    "foresail-policy []",
    'foresail-policy {"rule":"a"}',
  ])
    it(`is not read from ${JSON.stringify(line)}`, () => assert.equal(parseViolation(line), undefined));

  it("is described with rule, resource, problem and fix", () =>
    assert.equal(
      describeViolation({ ...VIOLATION, problem: "no" }),
      "policy pinned-host-keys: HostKey onprem-cp-1-host-key: no; add hostKey",
    ));

  const levels: [title: string, configuration: unknown, expected: boolean][] = [
    ["without a configuration", {}, true],
    ["with a level", { rule: "advisory" }, false],
    ["with parameters only", { rule: { minimum: 1 } }, true],
    ["with a level beside parameters", { rule: { enforcementLevel: "advisory", minimum: 1 } }, false],
    ["with a level of all rules", { all: "advisory" }, false],
    ["with a level of its own and one of all rules", { all: "advisory", rule: "mandatory" }, true],
    ["with a configuration that is not an object", "x", true],
  ];
  for (const [title, configuration, expected] of levels)
    it(`${expected ? "refuses" : "is a remark"} ${title}`, () =>
      assert.equal(isMandatory("rule", configuration), expected));
});
