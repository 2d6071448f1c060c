import assert from "node:assert/strict";
import { componentValueIssues } from "../../../../providers/kubeadm/plan/validation/component-values";

type Settings = Parameters<typeof componentValueIssues>[0];
type Arguments = Record<string, string>;

const version = "1.36.3";
const listed = (values: Arguments) => Object.entries(values).map(([name, value]) => ({ name, value }));
const apiServer = (values: Arguments, others: object = {}): Settings => ({
  version,
  kubeadm: { clusterConfiguration: { apiServer: { extraArgs: listed(values) } } },
  ...others,
});
const ofKubelet = (values: Arguments, kubelet?: object): Settings => ({
  version,
  kubeadm: { joinConfiguration: { nodeRegistration: { kubeletExtraArgs: listed(values) } } },
  kubelet,
});
const OTHER_SUITE = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
const SUITE = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";

describe("values of Kubernetes' programs", () => {
  const accepted: Record<string, Settings> = {
    "gates of the version": apiServer({
      "feature-gates": " AllAlpha = false ,AllBeta=T,ContextualLogging=true",
    }),
    "a locked gate at its value": { version, kubelet: { featureGates: { SidecarContainers: true } } },
    "a gate of a version that still has it": {
      version: "1.31.0",
      kubelet: { featureGates: { KubeletCgroupDriverFromCRI: true } },
    },
    "a gate of any version where none is known": {
      kubeProxy: { featureGates: { AllowServiceLBStatusOnNonLB: true } },
    },
    "gates of another component": apiServer({ "feature-gates": "wardle:BanFlunder=true" }),
    "a locked gate where another version is emulated": apiServer({
      "emulated-version": "1.35",
      "feature-gates": "SidecarContainers=false",
    }),
    "no cipher suites": apiServer({ "tls-cipher-suites": "" }),
    "suites in quotation marks": apiServer({ "tls-cipher-suites": `"${SUITE}"` }),
    "suites without those of HTTP/2 with TLS 1.3 alone": apiServer({
      "tls-cipher-suites": OTHER_SUITE,
      "tls-min-version": "VersionTLS13",
    }),
    "suites without those of HTTP/2 without HTTP/2": apiServer({
      "tls-cipher-suites": OTHER_SUITE,
      "disable-http2-serving": "true",
    }),
    "suites of an adopted cluster, which may serve TLS 1.3 alone": apiServer(
      { "tls-cipher-suites": OTHER_SUITE },
      { adopt: true },
    ),
    "suites of a kubelet that takes TLS 1.3 alone by an argument": ofKubelet(
      { "tls-min-version": "VersionTLS13" },
      { tlsCipherSuites: [OTHER_SUITE] },
    ),
    "suites of a kubelet that does not serve": {
      version,
      kubelet: { tlsCipherSuites: [OTHER_SUITE], enableServer: false },
    },
    "suites with older names": {
      version,
      kubelet: { tlsCipherSuites: [SUITE, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"] },
    },
    "plugins of the version": apiServer({
      "enable-admission-plugins": "NodeRestriction,PodGroupProtection",
      "disable-admission-plugins": "PodSecurity",
    }),
    "NodeRestriction disabled where others are enabled": apiServer({
      "enable-admission-plugins": "AlwaysPullImages",
      "disable-admission-plugins": "NodeRestriction",
    }),
    "plugins disabled that an adopted cluster may not enable": apiServer(
      { "disable-admission-plugins": "NodeRestriction" },
      { adopt: true },
    ),
    "kubeadm's own gates": {
      version,
      kubeadm: { clusterConfiguration: { featureGates: { RootlessControlPlane: true } } },
    },
    "booleans, durations and whole numbers as Go reads them": apiServer({
      profiling: "F",
      "event-ttl": "1h30m",
      "shutdown-delay-duration": "0",
      "max-requests-inflight": "0x10",
      "audit-log-maxage": "-1",
      "min-request-timeout": "1_800",
    }),
    "numbers with underscores after their base, and both letters of microseconds": apiServer({
      "max-requests-inflight": "0x_10",
      "max-mutating-requests-inflight": "0b_1",
      "min-request-timeout": "0o_7",
      "audit-log-maxage": "0_7",
      "event-ttl": "10\u00b5s",
      "shutdown-delay-duration": "10\u03bcs",
    }),
    "unreadable settings": {
      version,
      kubeadm: { clusterConfiguration: { apiServer: "x" } },
      kubelet: 3,
      kubeProxy: null,
    },
  };
  for (const [what, settings] of Object.entries(accepted))
    it(`may be ${what}`, () => assert.deepEqual(componentValueIssues(settings), []));

  const ARGS = "kubeadm.clusterConfiguration.apiServer.extraArgs";
  const refused: [what: string, settings: Settings, path: string, message: RegExp][] = [
    ...(
      [
        ["profiling", "no", '"no" is neither "true" nor "false"'],
        ["anonymous-auth", "maybe", '"maybe" is neither "true" nor "false"'],
        ["event-ttl", "40", '"40" is not a duration; write e.g. "90s" or "1m30s"'],
        ["request-timeout", "1d", '"1d" is not a duration; write e.g. "90s" or "1m30s"'],
        ["max-requests-inflight", "4k", '"4k" is not a whole number'],
        ["audit-log-maxage", "30d", '"30d" is not a whole number'],
        ["audit-log-maxage", "", '"" is not a whole number'],
      ] as const
    ).map(
      ([name, value, message]) =>
        [`${name}=${value}`, apiServer({ [name]: value }), `${ARGS}.0.value`, RegExp(`^${message}$`)] as [
          string,
          Settings,
          string,
          RegExp,
        ],
    ),
    [
      "a misspelt gate",
      { version, kubelet: { featureGates: { SidecarContainer: true } } },
      "kubelet.featureGates.SidecarContainer",
      /not a feature gate of Kubernetes 1\.36\.3; did you mean "SidecarContainers"\?/,
    ],
    [
      "a gate that is removed in the version",
      apiServer({ "feature-gates": "AllAlpha=false,HPAContainerMetrics=true" }),
      `${ARGS}.0.value`,
      /"HPAContainerMetrics" is not a feature gate of Kubernetes 1\.36\.3, only of 1\.31/,
    ],
    [
      "a gate that no version has",
      { kubeProxy: { featureGates: { Xyzzy: true } } },
      "kubeProxy.featureGates.Xyzzy",
      /not a feature gate of Kubernetes; remove it/,
    ],
    [
      "a locked gate at the other value",
      { version, kubelet: { featureGates: { SidecarContainers: false } } },
      "kubelet.featureGates.SidecarContainers",
      /locked to true in Kubernetes 1\.36\.3, whose programs do not start with false/,
    ],
    [
      "gates without a value",
      apiServer({ "feature-gates": "AllAlpha" }),
      `${ARGS}.0.value`,
      /"AllAlpha" is not NAME=true or NAME=false/,
    ],
    [
      "gates of a kubelet's argument",
      ofKubelet({ "feature-gates": "SidecarContainers=0" }),
      "kubeadm.joinConfiguration.nodeRegistration.kubeletExtraArgs.0.value",
      /locked to true/,
    ],
    [
      "kubeadm's gates that are the kubelet's",
      { version, kubeadm: { clusterConfiguration: { featureGates: { SidecarContainers: true } } } },
      "kubeadm.clusterConfiguration.featureGates.SidecarContainers",
      /is not known; known are/,
    ],
    [
      "a suite of OpenSSL",
      apiServer({ "tls-cipher-suites": "ECDHE-RSA-AES128-GCM-SHA256" }),
      `${ARGS}.0.value`,
      /"ECDHE-RSA-AES128-GCM-SHA256" is not known/,
    ],
    [
      "suites with spaces",
      apiServer({ "tls-cipher-suites": `${SUITE}, ${OTHER_SUITE}` }),
      `${ARGS}.0.value`,
      /has a space; write commas without spaces/,
    ],
    [
      "suites without those of HTTP/2",
      apiServer({ "tls-cipher-suites": OTHER_SUITE }),
      `${ARGS}.0.value`,
      /no suite that HTTP\/2 needs; add TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or/,
    ],
    [
      "a kubelet's suites without those of HTTP/2",
      { version, kubelet: { tlsCipherSuites: [OTHER_SUITE] } },
      "kubelet.tlsCipherSuites",
      /no suite that HTTP\/2 needs/,
    ],
    [
      "another TLS version",
      apiServer({ "tls-min-version": "TLS1.2" }),
      `${ARGS}.0.value`,
      /"TLS1\.2" is not known/,
    ],
    [
      "a kubelet's other TLS version",
      { version, kubelet: { tlsMinVersion: "1.2" } },
      "kubelet.tlsMinVersion",
      /"1\.2" is not known/,
    ],
    [
      "a plugin that is removed",
      apiServer({ "enable-admission-plugins": "NodeRestriction,PodSecurityPolicy" }),
      `${ARGS}.0.value`,
      /"PodSecurityPolicy" is not known/,
    ],
    [
      "a plugin of a later version",
      { ...apiServer({ "enable-admission-plugins": "PodGroupProtection" }), version: "1.31.0" },
      `${ARGS}.0.value`,
      /"PodGroupProtection" is not known/,
    ],
    [
      "a plugin that is enabled and disabled",
      apiServer({
        "disable-admission-plugins": "AlwaysPullImages",
        "enable-admission-plugins": "AlwaysPullImages",
      }),
      `${ARGS}.0.value`,
      /"AlwaysPullImages" is enabled, too/,
    ],
    [
      "the plugin disabled that kubeadm enables",
      apiServer({ "disable-admission-plugins": "NodeRestriction" }),
      `${ARGS}.0.value`,
      /"NodeRestriction" is enabled, too/,
    ],
    [
      "a plugin disabled that the profile enables",
      apiServer({ "disable-admission-plugins": "DenyServiceExternalIPs" }, { profile: "cis" }),
      `${ARGS}.0.value`,
      /"DenyServiceExternalIPs" is enabled, too/,
    ],
  ];
  for (const [what, settings, path, message] of refused)
    it(`may not be ${what}`, () => {
      const [issue, ...others] = componentValueIssues(settings);
      assert.equal(issue?.path.join("."), path);
      assert.match(issue?.message ?? "", message);
      assert.deepEqual(others, []);
    });
});
