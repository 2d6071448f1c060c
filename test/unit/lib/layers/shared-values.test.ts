import assert from "node:assert/strict";
import fc from "fast-check";
import { fillShared, isReference, type SharedStacks } from "../../../../lib/layers/shared-values";
import { fullStackName, stackNameIssue } from "../../../../lib/layers/stack-name";
import { issueLines } from "../../../../lib/validation/validation-issue";

const STACKS: SharedStacks = {
  base: {
    stack: "organization/network/eu1",
    outputs: {
      networkId: "n-1",
      size: 3,
      servers: ["192.0.2.53"],
      network: { id: "n-2" },
      gone: null,
      token: "t",
    },
    secrets: ["token"],
  },
  empty: { stack: "organization/network/us1", outputs: {} },
};

const fill = (value: unknown, stacks: SharedStacks | undefined = STACKS, isSecret = false) => {
  const { value: filled, issues } = fillShared(value, ["openstack"], { stacks, isSecret });
  return { filled, lines: issueLines(issues) };
};

describe("values of other stacks", () => {
  const good: [what: string, written: unknown, filled: unknown][] = [
    ["a text", { id: "${shared.base.networkId}" }, { id: "n-1" }],
    ["a number, which stays one", ["${shared.base.size}"], [3]],
    ["a list", "${shared.base.servers}", ["192.0.2.53"]],
    ["a field of an output", "${shared.base.network.id}", "n-2"],
    ["an item of a list", "${shared.base.servers.0}", "192.0.2.53"],
    ["parts of a text", "a-${shared.base.networkId}-${shared.base.size}", "a-n-1-3"],
    [
      "no reference",
      ["${HOME}", "$shared.base.x", 1, null, true],
      ["${HOME}", "$shared.base.x", 1, null, true],
    ],
  ];
  for (const [what, written, filled] of good)
    it(`fill ${what}`, () => assert.deepEqual(fill(written), { filled, lines: [] }));

  const bad: [what: string, written: string, line: string][] = [
    [
      "an output that the stack does not have, with what it has",
      "${shared.base.netId}",
      '"${shared.base.netId}": organization/network/eu1 has no output "netId"; it has network, networkId, servers, size, token',
    ],
    [
      "a field that the output does not have",
      "${shared.base.network.ids}",
      '"${shared.base.network.ids}": organization/network/eu1 has no output "network" with "ids"; it has network, networkId, servers, size, token',
    ],
    [
      "an empty output",
      "${shared.base.gone}",
      '"${shared.base.gone}": organization/network/eu1 has no output "gone"; it has network, networkId, servers, size, token',
    ],
    [
      "a stack without outputs",
      "${shared.empty.networkId}",
      '"${shared.empty.networkId}": organization/network/us1 has no outputs yet; run `pulumi up` for it first',
    ],
    [
      "a stack that is not named, with the likely one",
      "${shared.bse.networkId}",
      '"${shared.bse.networkId}": foresail:shared has no stack "bse"; did you mean "base"?',
    ],
    ["no output", "${shared.base}", '"${shared.base}" names no output; write ${shared.NAME.OUTPUT}'],
    [
      "a list in a text",
      "x${shared.base.servers}",
      '"${shared.base.servers}" is not a text or a number, so it can\'t be a part of a text',
    ],
    [
      "a secret output in a field that previews show",
      "x${shared.base.token}",
      '"${shared.base.token}": this output of organization/network/eu1 is secret, and previews show this field; only a secret key can take it',
    ],
    ["an inherited name", "${shared.base.constructor}", ""],
  ];
  for (const [what, written, line] of bad)
    it(`refuse ${what}`, () => {
      const { filled, lines } = fill({ at: [written] });
      assert.deepEqual(filled, { at: [written] });
      assert.equal(lines.length, 1);
      assert.ok(lines[0]?.startsWith(`openstack.at[0]: ${line}`), lines[0]);
    });

  it("fill a secret key with a secret output", () => {
    assert.deepEqual(fill("${shared.base.token}", STACKS, true), { filled: "t", lines: [] });
  });

  it("leave texts alone without foresail:shared, except those that are one reference", () => {
    const texts = ["a ${shared.base.networkId}", "${HOME}"];
    const own = fillShared(texts, [], { stacks: undefined, isSecret: false });
    assert.deepEqual(own, { value: texts, issues: [] });
    const one = fillShared("${shared.base.networkId}", ["cluster"], { stacks: undefined, isSecret: false });
    assert.match(
      issueLines(one.issues).join(),
      /^cluster: names an output .*, and foresail:shared is missing/,
    );
  });

  it("change nothing of a value without a reference", () => {
    const text = fc.string().filter((each) => !each.includes("${shared."));
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, words) => {
        fc.pre(!JSON.stringify(value).includes("${shared."));
        assert.deepEqual(fill({ value, words }), { filled: { value, words }, lines: [] });
        assert.ok(!isReference(words));
      }),
    );
  });
});

describe("names of stacks", () => {
  it("are completed with the organization and the project of the program", () => {
    const here = { organization: "acme", project: "foresail" };
    assert.equal(fullStackName("eu1", here), "acme/foresail/eu1");
    assert.equal(fullStackName("network/eu1", here), "acme/network/eu1");
    assert.equal(fullStackName("other/network/eu1", here), "other/network/eu1");
  });

  it("have one to three parts", () => {
    for (const name of ["eu1", "network/eu1", "acme/network/prod.eu-1"])
      assert.equal(stackNameIssue(name), undefined);
    for (const name of ["", "a//b", "/a", "a/b/c/d", "a b", "${shared.base.x}"])
      assert.match(stackNameIssue(name) ?? "", /is not the name of a stack/);
  });
});
