import assert from "node:assert/strict";
import { issueLines } from "../../../../../lib/validation/validation-issue";
import {
  mergedObjects,
  originalObjects,
} from "../../../../../providers/kubeadm/plan/adoption/adopted-configuration";
import { derivedSettingIssues } from "../../../../../providers/kubeadm/plan/adoption/adopted-profile";
import type { KubeadmObjects } from "../../../../../providers/kubeadm/plan/adoption/adoption-facts";
import { settingIssues } from "../../../../../providers/kubeadm/plan/adoption/adoption";
import { withDerivedSettings } from "../../../../../providers/kubeadm/plan/hardening/profile";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { exampleSpecification } from "../machine/examples";

type Derived = Parameters<typeof withDerivedSettings>[1];

const CIS: Derived = { profile: "cis" };
const OIDC: Derived = {
  authentication: {
    oidc: [
      {
        issuer: { url: "https://login.example.com", audiences: ["k8s"] },
        claimMappings: { username: { claim: "sub", prefix: "" } },
      },
    ],
  },
};
const plain = exampleSpecification();
const withArgument = (name: string, value: string): Partial<ClusterSpecification> => ({
  kubeadm: { clusterConfiguration: { apiServer: { extraArgs: [{ name, value }] } } },
});
/** A cluster whose API servers have these arguments. */
const made = (args: Record<string, string>, others: object = {}): KubeadmObjects => ({
  clusterConfiguration: {
    apiServer: { extraArgs: Object.entries(args).map(([name, value]) => ({ name, value })), ...others },
  },
  kubelet: { maxPods: 110, tlsCipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"] },
});
const issues = (
  theirs: KubeadmObjects,
  derived: Derived,
  own: Partial<ClusterSpecification> = {},
  version = "1.36.3",
) => issueLines(derivedSettingIssues(withDerivedSettings({ ...plain, ...own, version }, derived), theirs));

describe("a profile and issuers of tokens on an adopted cluster", () => {
  it("are merged, and everything that others configured comes back when they go away", () => {
    const theirs = made({ profiling: "true", "oidc-x": "", "audit-log-maxage": "5" });
    for (const derived of [CIS, OIDC, { ...CIS, ...OIDC }]) {
      const merged = mergedObjects(theirs, {}, withDerivedSettings(plain, derived));
      const written = {
        clusterConfiguration: merged.clusterConfiguration?.written ?? [],
        kubelet: merged.kubelet?.written ?? [],
      };
      const now = {
        clusterConfiguration: merged.clusterConfiguration?.object,
        kubelet: merged.kubelet?.object,
      };
      assert.notDeepEqual(now, theirs);
      assert.deepEqual(originalObjects(now, written), theirs);
      assert.deepEqual(mergedObjects(now, written, plain).kubelet?.object, theirs.kubelet);
    }
  });

  it("are accepted beside settings that both can have", () => {
    const harmless = made({ profiling: "true", "enable-admission-plugins": "NodeRestriction", v: "2" });
    assert.deepEqual(issues(harmless, CIS), []);
    assert.deepEqual(issues(made({ "anonymous-auth": "false" }), OIDC), []);
    assert.deepEqual(issues(made({ "oidc-issuer-url": "https://a" }), {}), []);
    // before, no file limits anonymous requests
    assert.deepEqual(issues(made({ "anonymous-auth": "false" }), CIS, {}, "1.31.4"), []);
  });

  const cases: [string, KubeadmObjects, Derived, RegExp, Partial<ClusterSpecification>?][] = [
    [
      "arguments for one issuer",
      made({ "oidc-issuer-url": "https://a", "oidc-client-id": "s3cret" }),
      OIDC,
      /^authentication: .*--oidc-issuer-url, --oidc-client-id .*exclude this/,
    ],
    ["another authentication file", made({ "authentication-config": "/etc/a" }), OIDC, /^authentication: /],
    [
      "refused anonymous requests",
      made({ "anonymous-auth": "false" }),
      CIS,
      /^profile: .*--anonymous-auth .*write them under kubeadm\.clusterConfiguration\.apiServer\.extraArgs/,
      withArgument("anonymous-auth", "false"),
    ],
    [
      "an audit log of its own",
      made({ "audit-policy-file": "/etc/kubernetes/audit.yaml" }),
      CIS,
      /^profile: .*audit log of their own \(--audit-policy-file\)/,
      withArgument("audit-policy-file", "/etc/kubernetes/audit.yaml"),
    ],
    [
      "admission plugins that the profile does not have",
      made({ "enable-admission-plugins": "NodeRestriction,PodNodeSelector" }),
      CIS,
      /^profile: would turn off the admission plugins PodNodeSelector/,
      withArgument("enable-admission-plugins", "NodeRestriction,DenyServiceExternalIPs,PodNodeSelector"),
    ],
    [
      "other ciphers of the kubelet",
      { ...made({}), kubelet: { tlsCipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] } },
      CIS,
      /^profile: the ConfigMap kubelet-config has other tlsCipherSuites/,
      { kubelet: { tlsCipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] } },
    ],
    [
      "a volume at the same path",
      made({}, { extraVolumes: [{ name: "logs", mountPath: "/var/log/kube-apiserver" }] }),
      CIS,
      /^kubeadm\.clusterConfiguration\.apiServer\.extraVolumes: .*own volume logs, so foresail-audit-log/,
    ],
  ];
  for (const [what, theirs, derived, expected, fix] of cases)
    it(`are refused beside ${what}, without a value, and accepted after the fix`, () => {
      const found = issues(theirs, derived);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(found[0] ?? "", expected);
      assert.doesNotMatch(found[0] ?? "", /s3cret/);
      if (fix) assert.deepEqual(issues(theirs, derived, fix), []);
    });

  it("are not adopted with, as long as the cluster does not have what they stand for", () => {
    const cluster = { ...made({}), nodes: [], systemPods: [], staticPods: [] };
    const lines = (derived: Derived) =>
      issueLines(settingIssues(withDerivedSettings(plain, derived), cluster));
    for (const [derived, fields] of [
      [CIS, ["profile"]],
      [{ ...CIS, ...OIDC }, ["profile", "authentication"]],
    ] as const) {
      const found = lines(derived).filter((line) => line.includes("adopting changes nothing"));
      assert.deepEqual(
        found.map((line) => line.split(":")[0]),
        fields,
      );
    }
  });
});
