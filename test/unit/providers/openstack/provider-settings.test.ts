import assert from "node:assert/strict";
import { providerSettings } from "../../../../providers/openstack/plan/provider-settings";

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
