import { clusterWide } from "../../../../providers/kubeadm/plan/cluster/pools";
import assert from "node:assert/strict";
import {
  AUTHENTICATION_FILE,
  authenticationConfiguration,
  withAuthentication,
} from "../../../../providers/kubeadm/plan/hardening/authentication";
import {
  configurationChange,
  configurationVersions,
} from "../../../../providers/kubeadm/plan/configuration/configuration";
import type { TokenIssuer } from "../../../../providers/kubeadm/plan/cluster/specification";
import { rolledConfiguration } from "../../../../providers/kubeadm/plan/configuration/rolled-configuration";
import { settingsParameters } from "../../../../providers/kubeadm/machine/parameters";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { exampleSpecification } from "./machine/examples";

const ISSUER: TokenIssuer = {
  issuer: { url: "https://id.example.com", audiences: ["kubernetes"] },
  claimMappings: { username: { claim: "email", prefix: "oidc:" } },
};
const base = exampleSpecification({
  files: [{ path: "/etc/motd", content: "hello", mode: "0644" }],
  kubeadm: { clusterConfiguration: { apiServer: { extraArgs: [{ name: "v", value: "2" }] } } },
});
const withIssuer = withAuthentication(base, { oidc: [ISSUER] });
const parse = (version: string, oidc: TokenIssuer[]) =>
  JSON.parse(authenticationConfiguration(version, { oidc })) as { apiVersion: string; jwt: object[] };

describe("the authentication configuration", () => {
  for (const [version, api] of [
    ["1.31.14", "v1beta1"],
    ["1.33.13", "v1beta1"],
    // reads both, so that machines may join while it rolls out
    ["1.34.4", "v1beta1"],
    ["1.35.4", "v1"],
    ["1.36.3", "v1"],
  ] as const)
    it(`of Kubernetes ${version} has version ${api}`, () =>
      assert.equal(parse(version, [ISSUER]).apiVersion, `apiserver.config.k8s.io/${api}`));

  it("has each field of an issuer, matches any of several audiences, and keeps names of the system to itself", () => {
    const issuer = { ...ISSUER.issuer, audiences: ["a", "b"], certificateAuthority: "PEM" };
    const claimMappings = { ...ISSUER.claimMappings, groups: { claim: "groups", prefix: "" } };
    const claimValidationRules = [{ claim: "hd", requiredValue: "example.com" }];
    const [one, other] = parse("1.36.3", [{ issuer, claimMappings, claimValidationRules }, ISSUER]).jwt;
    const { userValidationRules, ...fields } = one as { userValidationRules: { expression: string }[] };
    assert.deepEqual(fields, {
      issuer: { ...issuer, audienceMatchPolicy: "MatchAny" },
      claimMappings,
      claimValidationRules,
    });
    assert.deepEqual(
      userValidationRules.map(({ expression }) => expression),
      ["!user.username.startsWith('system:')", "user.groups.all(group, !group.startsWith('system:'))"],
    );
    assert.deepEqual(other, { ...ISSUER, userValidationRules });
  });

  it("is a file of control planes and an argument of their API servers, beside those of the user", () => {
    assert.deepEqual(withIssuer.files[0], base.files[0]);
    assert.deepEqual(withIssuer.kubeadm.clusterConfiguration?.["apiServer"], {
      extraArgs: [
        { name: "authentication-config", value: AUTHENTICATION_FILE },
        { name: "v", value: "2" },
      ],
      extraVolumes: [
        {
          name: "foresail-authentication",
          hostPath: AUTHENTICATION_FILE,
          mountPath: AUTHENTICATION_FILE,
          readOnly: true,
          pathType: "File",
        },
      ],
    });
    assert.deepEqual(settingsParameters(clusterWide(withIssuer), "control-plane")["FILE_PATHS"], [
      "/etc/motd",
      AUTHENTICATION_FILE,
    ]);
    assert.deepEqual(settingsParameters(clusterWide(withIssuer), "worker")["FILE_PATHS"], ["/etc/motd"]);
  });

  it("changes nothing without an issuer, not even a field of the state", () => {
    assert.equal(withAuthentication(base, {}), base);
    assert.equal(withAuthentication(base, { oidc: [] }), base);
  });

  it("rolls out to control planes alone, named as it is configured, and removes its file with it", () => {
    const [before, after] = [configurationVersions(base), configurationVersions(withIssuer)];
    assert.equal(after.worker, before.worker);
    const differing = after["control-plane"]
      .split(".")
      .map((part, index) => part === before["control-plane"].split(".")[index]);
    assert.deepEqual(differing, [false, true, false]);
    const another = { ...ISSUER, issuer: { ...ISSUER.issuer, audiences: ["other"] } };
    const change = configurationChange(withIssuer, withAuthentication(base, { oidc: [another] }));
    assert.deepEqual(change?.paths.map(formatPath), [
      "authentication.oidc[0].issuer.audiences[0]",
      "files[1].content",
    ]);
    assert.equal(change.upload, false);
    const rolled = rolledConfiguration({ specification: withIssuer }, base);
    assert.deepEqual(rolled?.removed, [AUTHENTICATION_FILE]);
  });
});
