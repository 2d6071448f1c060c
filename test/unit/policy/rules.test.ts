import assert from "node:assert/strict";
import { boundedDisruption } from "../../../policy/plan/disruption";
import { oddControlPlanes, protectedControlPlanes } from "../../../policy/plan/control-planes";
import { pinnedHostKeys } from "../../../policy/plan/host-keys";
import type { PolicyResource, ResourceRule } from "../../../policy/plan/rule";
import { secretOutputs } from "../../../policy/plan/secret-outputs";
import { supportedVersions, versionSkew } from "../../../policy/plan/versions";
import { worldOpenAccess } from "../../../policy/plan/world-open-access";
import { UNKNOWN } from "../../../lib/unknown";
import { defaultsOf, of, own, type Values } from "./resources";

type Case = readonly [title: string, resource: PolicyResource, problem?: RegExp];

/** Checks a table: without a problem, the rule accepts the resource. */
function table<Parameters>(
  rule: ResourceRule<Parameters>,
  cases: readonly Case[],
  given?: Partial<Parameters>,
) {
  const parameters = { ...defaultsOf(rule), ...given };
  for (const [title, resource, problem] of cases)
    it(`${problem ? "refuses" : "accepts"} ${title}`, () => {
      const findings = rule.check(resource, parameters);
      if (problem === undefined) return assert.deepEqual(findings, []);
      assert.equal(findings.length, 1, JSON.stringify(findings));
      assert.match(findings[0]!.problem, problem);
      assert.match(findings[0]!.fix, /^\w.*[^.;]$/);
    });
}

describe("policy no-world-open-access", () => {
  const rule = (values: Values, name = "onprem-extra") =>
    of(
      "openstack:networking/secGroupRule:SecGroupRule",
      { direction: "ingress", ethertype: "IPv4", protocol: "tcp", ...values },
      { name },
    );
  const port = (number: number) => ({ portRangeMin: number, portRangeMax: number });
  const anywhere = { remoteIpPrefix: "0.0.0.0/0" };
  const listener = (allowedCidrs: unknown) =>
    of("openstack:loadbalancer/listener:Listener", { allowedCidrs, protocolPort: 6443 });
  const tumblebug = (entry: Values) =>
    own("TumblebugSecurityGroup", {
      rules: [
        { name: "x", direction: "inbound", protocol: "tcp", ports: [22, 22], cidr: "10.0.0.0/8", ...entry },
      ],
    });
  table(worldOpenAccess, [
    ["SSH for one network", rule({ ...port(22), remoteIpPrefix: "192.0.2.0/24" })],
    ["SSH for everyone", rule({ ...port(22), ...anywhere }), /^SSH \(port 22\) is open to 0\.0\.0\.0\/0$/],
    [
      "SSH for half of all addresses",
      rule({ ...port(22), remoteIpPrefix: "128.0.0.0/1" }),
      /128\.0\.0\.0\/1/,
    ],
    ["SSH for all of IPv6", rule({ ...port(22), remoteIpPrefix: "::/0" }), /::\/0/],
    ["the API without a limit", rule(port(6443)), /^the Kubernetes API \(port 6443\) is open to everyone$/],
    ["a range with the API", rule({ portRangeMin: 6000, portRangeMax: 7000, ...anywhere }), /Kubernetes API/],
    ["every port", rule(anywhere), /^every port is open/],
    ["SSH at another port", rule({ ...port(2222), ...anywhere }, "onprem-nodes-ssh-0.0.0.0-0"), /port 2222/],
    ["node ports for everyone", rule({ portRangeMin: 30000, portRangeMax: 32767, ...anywhere })],
    ["ping from everywhere", rule({ ...anywhere, protocol: "icmp" })],
    ["outgoing traffic", rule({ ...anywhere, direction: "egress" })],
    ["the machines among each other", rule({ remoteGroupId: UNKNOWN })],
    ["a block that is unknown", rule({ ...port(22), remoteIpPrefix: UNKNOWN })],
    ["a load balancer for some", listener(["192.0.2.0/24", "10.8.0.0/24"])],
    ["a load balancer for everyone", listener(["10.8.0.0/24", "0.0.0.0/0"]), /Kubernetes API/],
    ["a load balancer without a limit", listener(undefined), /everyone/],
    ["a load balancer whose limit is unknown", listener(UNKNOWN)],
    ["a group of CB-Tumblebug for one network", tumblebug({})],
    ["a group of CB-Tumblebug for everyone", tumblebug({ cidr: "0.0.0.0/0" }), /SSH/],
    [
      "the API of CB-Tumblebug at another port",
      tumblebug({ name: "api", ports: [8443, 8443], cidr: "0.0.0.0/0" }),
      /port 8443/,
    ],
  ]);
  describe("with ports of its own", () =>
    table(
      worldOpenAccess,
      [
        ["what is not listed", rule({ ...port(6443), ...anywhere })],
        ["what is listed", rule({ ...port(9100), ...anywhere }), /port 9100/],
      ],
      { ports: [9100] },
    ));
});

describe("policy odd-control-planes", () => {
  const cluster = (count: number) =>
    own("ClusterInit", {
      machines: [...Array<string>(count).fill("control-plane"), "worker"].map((role) => ({ role })),
    });
  const azimuth = (machineCount: unknown) =>
    of("kubernetes:helm.sh/v3:Release", { values: { controlPlane: { machineCount } } });
  table(oddControlPlanes, [
    ["three", cluster(3)],
    ["five", cluster(5)],
    ["one", cluster(1), /^the cluster has 1 control planes, fewer than 3$/],
    ["four", cluster(4), /^4 control planes tolerate no more failures than 3$/],
    ["three of Azimuth", azimuth(3)],
    ["two of Azimuth", azimuth(2), /fewer than 3/],
    ["another release", of("kubernetes:helm.sh/v3:Release", { values: {} })],
    ["what is unknown", own("ClusterInit", { machines: [{ role: UNKNOWN }] })],
  ]);
  describe("for development", () => table(oddControlPlanes, [["one", cluster(1)]], { minimum: 1 }));
});

describe("policy protected-control-planes", () =>
  table(protectedControlPlanes, [
    ["a cluster that is protected", own("ClusterInit", {}, { isProtected: true })],
    ["a cluster that is not", own("ClusterInit", {}), /would delete the cluster/],
    ["an adopted cluster, which destroy releases", own("ClusterInit", { adopt: { annotations: "x" } })],
    ["an adopted cluster that destroy resets", own("ClusterInit", { adopt: { reset: true } }), /delete/],
    ["another resource", own("NodeGroup", {})],
  ]));

describe("policy supported-versions", () => {
  const cluster = (version: string) => own("ClusterInit", { specification: { version } });
  const rule = supportedVersions("2026-11-23");
  table(rule, [
    ["a supported minor", cluster("1.35.4")],
    [
      "a minor whose support ended",
      cluster("1.34.4"),
      /^the support of Kubernetes 1\.34 ended on 2026-10-27$/,
    ],
    ["an old minor", cluster("1.28.15"), /1\.28\.15 is no longer supported/],
    ["a minor that is newer than foresail", cluster("1.40.0")],
    ["an old MachinePool", own("MachinePoolReady", { version: "v1.30.0" }), /1\.30\.0/],
    [
      "an old cluster of Azimuth",
      of("kubernetes:helm.sh/v3:Release", { values: { kubernetesVersion: "1.33.1" } }),
      /1\.33/,
    ],
    ["what is unknown", cluster(UNKNOWN)],
  ]);
  describe("on the last day", () =>
    table(supportedVersions("2026-10-27"), [["the minor", cluster("1.34.4")]]));
  describe("with days of grace", () =>
    table(
      rule,
      [
        ["a minor within them", cluster("1.34.4")],
        ["a minor after them", cluster("1.33.13"), /1\.33/],
      ],
      { graceDays: 30 },
    ));
  describe("with dates of a distributor", () =>
    table(rule, [["a minor with longer support", cluster("1.30.14")]], {
      endOfLife: { "1.30": "2027-01-31" },
    }));
});

describe("policy pinned-host-keys", () => {
  const tumblebug =
    "urn:pulumi:prod::foresail::foresail:tumblebug:TumblebugCluster$pulumi-nodejs:dynamic/foresail:HostKey::x";
  table(pinnedHostKeys, [
    [
      "a machine without a key",
      own("HostKey", { machine: "cp-1" }),
      /^the host key of cp-1 is whatever answers/,
    ],
    ["machines whose keys can't be known before", own("HostKey", { machine: "cp-1" }, { urn: tumblebug })],
    ["a key from the console", own("ServerHostKey", { machine: "cp-1" })],
  ]);
});

describe("policy bounded-disruption", () => {
  const groups = ["control-plane", ...Array<string>(6).fill("web"), "db"];
  const rollout = (settings: Values) =>
    own("NodeRollout", { machines: groups.map((group) => ({ group })), rollout: { pools: {}, ...settings } });
  table(boundedDisruption, [
    ["one node at a time", rollout({ maxUnavailable: 1 })],
    ["a third", rollout({ maxUnavailable: "34%" })],
    [
      "half of a pool",
      rollout({ maxUnavailable: "50%" }),
      /^3 of the 6 nodes of web may be unavailable at once$/,
    ],
    [
      "a pool with its own limit",
      rollout({ maxUnavailable: 1, pools: { web: { maxUnavailable: 4 } } }),
      /4 of the 6/,
    ],
    ["what is unknown", rollout({ maxUnavailable: UNKNOWN })],
  ]);
  it("names the field that has the limit", () => {
    const [finding] = boundedDisruption.check(
      rollout({ maxUnavailable: 1, pools: { web: { maxUnavailable: 4 } } }),
      { maxPercent: 34 },
    );
    assert.equal(finding?.fix, "set cluster.rollout.pools.web.maxUnavailable to at most 2");
  });
});

describe("policy version-skew", () => {
  const findings = (...versions: [role: string, version: string][]) =>
    versionSkew.checkStack(
      [
        own("NodeRollout", {
          nodes: versions.map(([role, version], n) => ({ name: `n-${n}`, role, version })),
        }),
      ],
      {},
    );
  it("accepts workers that are three minors behind", () =>
    assert.deepEqual(findings(["control-plane", "1.36.3"], ["worker", "1.33.1"]), []));
  it("refuses workers that are four minors behind", () =>
    assert.match(
      findings(["control-plane", "1.36.3"], ["worker", "1.32.1"])[0]!.problem,
      /more than 3 minors/,
    ));
  it("refuses a worker that is ahead", () =>
    assert.match(findings(["control-plane", "1.35.4"], ["worker", "1.36.3"])[0]!.problem, /newer than/));
  it("accepts versions that are unknown", () =>
    assert.deepEqual(findings(["control-plane", UNKNOWN], ["worker", "1.20.0"]), []));
});

describe("policy no-secrets-in-outputs", () => {
  const SECRET = "correct horse battery";
  const outputs = (values: Values, parameters = defaultsOf(secretOutputs)) =>
    secretOutputs
      .checkStack(
        [
          of("pulumi:pulumi:Stack", values),
          own("TumblebugVm", { credentials: { user: "administrator", password: SECRET } }),
          of("pulumi:providers:pulumi-nodejs", {
            "foresail:tumblebugCredentials": JSON.stringify({
              username: "tumblebug-user",
              password: "from-the-config",
            }),
          }),
        ],
        parameters,
      )
      .map(({ problem }) => problem);
  const found = (path: string) => [`the output ${path} contains a secret`];

  it("accepts what is not a secret, and users' names", () =>
    assert.deepEqual(
      outputs({ version: "1.36.3", nodes: [{ user: "administrator" }], of: "tumblebug-user" }),
      [],
    ));
  it("accepts the kubeconfig, which is marked as secret", () =>
    assert.deepEqual(outputs({ kubeconfig: "client-key-data: c2VjcmV0" }), []));
  it("refuses a kubeconfig under another name", () =>
    assert.deepEqual(outputs({ access: { file: "client-key-data: c2VjcmV0" } }), found("access.file")));
  it("refuses a private key", () =>
    assert.deepEqual(outputs({ key: "-----BEGIN OPENSSH PRIVATE KEY-----\n" }), found("key")));
  it("refuses what a resource takes as a secret", () =>
    assert.deepEqual(outputs({ nodes: [`ssh://root:${SECRET}@a`] }), found("nodes.0")));
  it("refuses what the configuration has as a secret", () =>
    assert.deepEqual(outputs({ password: "from-the-config" }), found("password")));
  it("accepts outputs that its parameter names", () =>
    assert.deepEqual(outputs({ password: "from-the-config" }, { secretOutputs: ["password"] }), []));
  it("never repeats the secret", () => assert.doesNotMatch(outputs({ a: SECRET }).join(), /horse/));
});
