import { ownValue } from "../../../../lib/json";
import { parseBoolean } from "../../../../lib/validation/boolean";
import {
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import { argumentsAt } from "../configuration/arguments";

/** Whether a value does not meet a check. */
type IsWeak = (value: string) => boolean;

/** Number and words of a check of the benchmark, and the values that do not meet it. */
type Check = readonly [number: string, what: string, isWeak: IsWeak];

const FALSE: IsWeak = (value) => parseBoolean(value) === false;
const TRUE: IsWeak = (value) => parseBoolean(value) === true;
const any: IsWeak = () => true;
const is =
  (...weak: string[]): IsWeak =>
  (value) =>
    weak.includes(value);
const not =
  (...good: string[]): IsWeak =>
  (value) =>
    !good.includes(value);
/** A comma-separated list with one of these, or without one of the others. */
const list =
  (weak: string[], required: string[] = []): IsWeak =>
  (value) => {
    const parts = value.split(",").map((part) => part.trim());
    return weak.some((each) => parts.includes(each)) || required.some((each) => !parts.includes(each));
  };
const LOOPBACK = ["127.0.0.1", "::1", "localhost"];
const OLD_TLS = ["VersionTLS10", "VersionTLS11"];

/** Arguments by the list in which they are: what Kubernetes or kubeadm meets without them. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  "clusterConfiguration.apiServer.extraArgs": {
    "token-auth-file": ["1.2.2", "has static tokens", any],
    "authorization-mode": [
      "1.2.6",
      "does not limit requests to Node,RBAC",
      list(["AlwaysAllow"], ["Node", "RBAC"]),
    ],
    "disable-admission-plugins": [
      "1.2.12",
      "takes an admission plugin away",
      list(["ServiceAccount", "NamespaceLifecycle", "NodeRestriction"]),
    ],
    "request-timeout": ["1.2.20", "lets requests run without a deadline", is("0", "0s", "0m", "0h")],
  },
  "clusterConfiguration.controllerManager.extraArgs": {
    "use-service-account-credentials": ["1.3.3", "gives all controllers the same credentials", FALSE],
    "feature-gates": [
      "1.3.6",
      "stops the rotation of the kubelets' certificates",
      list(["RotateKubeletServerCertificate=false"]),
    ],
    "bind-address": ["1.3.7", "listens on other addresses than 127.0.0.1", not(...LOOPBACK)],
  },
  "clusterConfiguration.scheduler.extraArgs": {
    "bind-address": ["1.4.2", "listens on other addresses than 127.0.0.1", not(...LOOPBACK)],
  },
  "clusterConfiguration.etcd.local.extraArgs": {
    "client-cert-auth": ["2.2", "lets in clients without certificates", FALSE],
    "auto-tls": ["2.3", "uses self-signed certificates", TRUE],
    "peer-client-cert-auth": ["2.5", "lets in members without certificates", FALSE],
    "peer-auto-tls": ["2.6", "uses self-signed certificates between members", TRUE],
  },
  ...Object.fromEntries(
    ["initConfiguration", "joinConfiguration"].map((object) => [
      `${object}.nodeRegistration.kubeletExtraArgs`,
      {
        "anonymous-auth": ["4.2.1", "lets in requests without credentials", TRUE],
        "authorization-mode": ["4.2.2", "allows every request", is("AlwaysAllow")],
        "read-only-port": ["4.2.4", "opens a port without authentication", not("0")],
        "streaming-connection-idle-timeout": [
          "4.2.5",
          "never ends idle connections",
          is("0", "0s", "0m", "0h"),
        ],
        "make-iptables-util-chains": ["4.2.6", "leaves iptables' chains to others", FALSE],
        "event-qps": ["4.2.8", "does not limit events", is("0")],
        "rotate-certificates": ["4.2.10", "never renews the kubelet's certificate", FALSE],
        "tls-min-version": ["4.2.12", "accepts old versions of TLS", is(...OLD_TLS)],
        "pod-max-pids": ["4.2.13", "does not limit the processes of a pod", (value) => Number(value) <= 0],
        "seccomp-default": ["4.2.14", "runs pods without seccomp", FALSE],
        "protect-kernel-defaults": ["4.2", "takes other settings of the kernel", FALSE],
      } as const,
    ]),
  ),
};

/** Fields of other objects. */
const FIELDS: readonly (readonly [path: string, check: Check])[] = [
  ["encryptSecretsAtRest", ["1.2.27", "keeps Secrets in plain text in etcd", FALSE]],
  ["kubelet.authentication.anonymous.enabled", ["4.2.1", "lets in requests without credentials", TRUE]],
  ["kubelet.authentication.webhook.enabled", ["4.2.2", "knows no tokens of service accounts", FALSE]],
  ["kubelet.authorization.mode", ["4.2.2", "allows every request", is("AlwaysAllow")]],
  ["kubelet.authentication.x509.clientCAFile", ["4.2.3", "knows no client certificates", is("")]],
  ["kubelet.makeIPTablesUtilChains", ["4.2.6", "leaves iptables' chains to others", FALSE]],
  ["kubelet.eventRecordQPS", ["4.2.8", "does not limit events", is("0")]],
  ["kubelet.rotateCertificates", ["4.2.10", "never renews the kubelet's certificate", FALSE]],
  [
    "kubelet.featureGates.RotateKubeletServerCertificate",
    ["4.2.11", "stops the rotation of the kubelet's certificate", FALSE],
  ],
  [
    "kubeProxy.metricsBindAddress",
    [
      "4.3.1",
      "listens on other addresses than 127.0.0.1",
      (value) => value !== "" && !/^(127\.0\.0\.1|localhost|\[?::1\]?)(:\d+)?$/.test(value),
    ],
  ],
];

const warning = ([number, what, isWeak]: Check, value: unknown): string | undefined =>
  ["string", "boolean", "number"].includes(typeof value) && isWeak(String(value))
    ? `weakens the profile cis: ${what} (check ${number})`
    : undefined;

/**
 * Returns a warning for each setting with which a cluster does not meet a check of the CIS benchmark that it meets without
 * it. What replaces a value of the profile itself is not among them.
 */
export function weakenedChecks(settings: object): ValidationIssue[] {
  const ofArguments = Object.entries(ARGUMENTS).flatMap(([place, checks]) => {
    const path: ConfigurationPath = ["kubeadm", ...place.split(".")];
    return argumentsAt(valueAt(settings, ["kubeadm"]), place).flatMap(({ name, value }, index) => {
      const check = ownValue(checks, name);
      return issueAt([...path, index], check && warning(check, value));
    });
  });
  return [
    ...ofArguments,
    ...FIELDS.flatMap(([field, check]) =>
      issueAt(field.split("."), warning(check, valueAt(settings, field.split(".")))),
    ),
  ];
}
