import assert from "node:assert/strict";
import {
  givenProviderIssues,
  providerSettings,
} from "../../../../providers/openstack/plan/provider-settings";

describe("what Pulumi's OpenStack provider is given beside the name of the cloud", () => {
  const maxRetries = 10;
  const cases: [what: string, args: Parameters<typeof providerSettings>, expected: object][] = [
    ["retries in a new stack", ["public", undefined, true], { maxRetries }],
    [
      "the endpoints that foresail calls",
      ["internal", undefined, true],
      { endpointType: "internal", maxRetries },
    ],
    [
      "nothing new in a stack of an earlier release without changes",
      ["internal", { cloud: "eu1" }, false],
      {},
    ],
    [
      "everything in such a stack whose machines change",
      ["internal", { cloud: "eu1" }, true],
      { endpointType: "internal", maxRetries },
    ],
    ["the same again", ["public", { maxRetries: "10" }, false], { maxRetries }],
    [
      "endpoints that the configuration changed",
      ["internal", { maxRetries: "10" }, false],
      { endpointType: "internal", maxRetries },
    ],
    [
      "the recorded endpoints while the configuration can't be read",
      [undefined, { maxRetries: "10", endpointType: "admin" }, false],
      { endpointType: "admin", maxRetries },
    ],
  ];
  for (const [what, args, expected] of cases)
    it(`is ${what}`, () => assert.deepEqual(providerSettings(...args), expected));
});

describe("a provider that a program gives to its OpenStack cluster", () => {
  const read = {
    authUrl: "https://keystone.example.com/v3",
    region: "one",
    auth: { scope: { project: { name: "web" } } },
  };
  const cases: [what: string, given: object, asked: object, issue?: RegExp][] = [
    ["of the same entry", { cloud: "eu1" }, { cloud: "eu1" }],
    [
      "of the same address",
      { authUrl: "https://keystone.example.com/", tenantName: "web" },
      { cloud: "eu1" },
    ],
    ["of the same region", { cloud: "eu1", region: "one" }, { cloud: "eu1", region: "one" }],
    ["of another entry", { cloud: "eu2" }, { cloud: "eu1" }, /has cloud eu2, and the cluster eu1/],
    ["of an entry, to a cluster without one", { cloud: "eu2" }, {}, /has cloud eu2, and the cluster none/],
    [
      "of another address",
      { authUrl: "https://k2.example.com/v3" },
      { cloud: "eu1" },
      /has authUrl https:\/\/k2/,
    ],
    [
      "of another region",
      { cloud: "eu1", region: "two" },
      { cloud: "eu1" },
      /has region two, and the cluster one/,
    ],
    ["of the entry's region", { cloud: "eu1" }, { cloud: "eu1", region: "one" }, /has region none/],
    ["of another project", { cloud: "eu1", tenantName: "ops" }, { cloud: "eu1" }, /has tenantName ops/],
  ];
  for (const [what, given, asked, issue] of cases)
    it(`is ${issue ? "refused" : "used"} when it is ${what}`, () => {
      const issues = givenProviderIssues(given, asked, read);
      assert.equal(issues.length, issue ? 1 : 0);
      if (issue) assert.match(issues[0]!.reason, issue);
    });
});
