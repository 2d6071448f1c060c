import assert from "node:assert/strict";
import {
  givenProviderIssues,
  providerSettings,
} from "../../../../providers/openstack/plan/provider-settings";
import { UNKNOWN } from "../../../../lib/unknown";

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
  type Read = Parameters<typeof givenProviderIssues>[1];
  /** What is read with `cloud: "eu1"`, whose entry names a region. */
  const entry = {
    authUrl: "https://keystone.example.com/v3",
    cloud: "eu1",
    region: "one",
    entryRegion: "one",
    auth: { scope: { project: { name: "web" } } },
  };
  /** What is read for a cluster that names another region than the entry. */
  const inRegion = (region: string) => ({ ...entry, region });
  const { cloud: _, ...variables } = entry;
  const credential = { ...entry, auth: { identity: { application_credential: { id: "a1" } } } };
  const unset = {
    ...{ cloud: UNKNOWN, region: UNKNOWN, authUrl: UNKNOWN },
    ...{ tenantId: UNKNOWN, tenantName: UNKNOWN, applicationCredentialId: UNKNOWN },
  };
  const cases: [what: string, given: object, read: Read, issue?: RegExp][] = [
    ["of the same entry", { cloud: "eu1" }, entry],
    ["of the same address", { authUrl: "https://keystone.example.com/", tenantName: "web" }, entry],
    ["of the same region", { cloud: "eu1", region: "one" }, entry],
    ["of the environment, as the cluster is", {}, variables],
    ["of the region of the cluster, not of its entry", { cloud: "eu1", region: "two" }, inRegion("two")],
    ["of the same credential", { cloud: "eu1", applicationCredentialId: "a1" }, credential],
    [
      "of a credential, and the cluster's is a password",
      { cloud: "eu1", applicationCredentialId: "a1" },
      entry,
    ],
    ["not known yet", unset, entry],
    ["of the same entry, in a preview", { ...unset, cloud: "eu1" }, inRegion("two")],
    [
      "of another entry, in a preview",
      { ...unset, cloud: "eu2" },
      entry,
      /has cloud eu2, and the cluster eu1/,
    ],
    ["of another region, in a preview", { ...unset, region: "two" }, entry, /has region two/],
    ["of an address that is not known yet", { ...unset, cloud: undefined }, entry],
    ["of another entry", { cloud: "eu2" }, entry, /has cloud eu2, and the cluster eu1/],
    [
      "of an entry, to a cluster without one",
      { cloud: "eu2" },
      variables,
      /has cloud eu2, and the cluster none/,
    ],
    ["of the environment, to a cluster of an entry", {}, entry, /has cloud none, and the cluster eu1/],
    ["of another address", { authUrl: "https://k2.example.com/v3" }, entry, /has authUrl https:\/\/k2/],
    ["of another region", { cloud: "eu1", region: "two" }, entry, /has region two, and the cluster one/],
    ["of the entry's region", { cloud: "eu1" }, inRegion("two"), /has region one, and the cluster two/],
    ["of another project", { cloud: "eu1", tenantName: "ops" }, entry, /has tenantName ops/],
    [
      "of another credential",
      { cloud: "eu1", applicationCredentialId: "a2" },
      credential,
      /has another applicationCredentialId than the cluster;/,
    ],
  ];
  for (const [what, given, read, issue] of cases)
    it(`is ${issue ? "refused" : "used"} when it is ${what}`, () => {
      const issues = givenProviderIssues(given, read);
      assert.equal(issues.length, issue ? 1 : 0);
      if (issue) assert.match(issues[0]!.reason, issue);
    });
});
