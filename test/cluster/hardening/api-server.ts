import type { Row } from "./check";

const API = "kube-apiserver";
const has = (flag: string) => `has ${API} --${flag}`;
const given = (...flags: string[]) => flags.map((flag) => `given ${API} --${flag}`).join(" && ");
const PROFILE_ARGUMENT = "Argument of the API server";
const STANDARD = "On in every API server";
/** Section 1.2. */
export const API_SERVER: Row[] = [
  [
    "1.2.1",
    "Anonymous requests",
    "profile",
    "Limited to health checks and `cluster-info`, from 1.32 on, instead of refused: probes and joins need these",
    "anonymous_is_limited",
  ],
  ["1.2.2", "No static tokens", "by default", "kubeadm sets no such file", `absent ${API} --token-auth-file`],
  [
    "1.2.3",
    "Services with external addresses",
    "profile",
    "Admission plugin DenyServiceExternalIPs",
    `admits DenyServiceExternalIPs`,
  ],
  [
    "1.2.4",
    "Certificate towards kubelets",
    "by default",
    "kubeadm",
    given("kubelet-client-certificate", "kubelet-client-key"),
  ],
  [
    "1.2.5",
    "Authority of the kubelets' certificates",
    "operator",
    "Needs 4.2.11, then the argument kubelet-certificate-authority",
  ],
  [
    "1.2.6",
    "Not everything is allowed",
    "by default",
    "kubeadm: Node,RBAC",
    has("authorization-mode=Node,RBAC"),
  ],
  ["1.2.7", "Node authorization", "by default", "kubeadm: Node,RBAC", has("authorization-mode=Node,RBAC")],
  ["1.2.8", "RBAC", "by default", "kubeadm: Node,RBAC", has("authorization-mode=Node,RBAC")],
  [
    "1.2.9",
    "Limit of events",
    "operator",
    "Admission plugin EventRateLimit, with limits for this cluster in a file",
  ],
  ["1.2.10", "No AlwaysAdmit", "by default", "Not enabled", "! admits AlwaysAdmit"],
  [
    "1.2.11",
    "AlwaysPullImages",
    "operator",
    "Pods would not start without their registry, and never from a bundle's images; needed if tenants share nodes",
  ],
  ["1.2.12", "Admission of service accounts", "by default", STANDARD, "! denies ServiceAccount"],
  ["1.2.13", "Lifecycle of namespaces", "by default", STANDARD, "! denies NamespaceLifecycle"],
  ["1.2.14", "NodeRestriction", "by default", "kubeadm", "admits NodeRestriction"],
  ["1.2.15", "No profiling", "profile", PROFILE_ARGUMENT, has("profiling=false")],
  [
    "1.2.16",
    "Audit log",
    "profile",
    "/var/log/kube-apiserver/audit.log",
    "test -s /var/log/kube-apiserver/audit.log",
  ],
  ["1.2.17", "Age of audit logs", "profile", "30 days", has("audit-log-maxage=30")],
  ["1.2.18", "Number of audit logs", "profile", "10", has("audit-log-maxbackup=10")],
  ["1.2.19", "Size of an audit log", "profile", "100 MB", has("audit-log-maxsize=100")],
  ["1.2.20", "Deadline of requests", "by default", "A minute", `absent ${API} --request-timeout`],
  ["1.2.21", "Look-up of service accounts", "profile", PROFILE_ARGUMENT, has("service-account-lookup=true")],
  ["1.2.22", "Key of service accounts", "by default", "kubeadm", given("service-account-key-file")],
  ["1.2.23", "Certificate towards etcd", "by default", "kubeadm", given("etcd-certfile", "etcd-keyfile")],
  [
    "1.2.24",
    "Certificate of the API server",
    "by default",
    "kubeadm",
    given("tls-cert-file", "tls-private-key-file"),
  ],
  ["1.2.25", "Authority of clients", "by default", "kubeadm", given("client-ca-file")],
  ["1.2.26", "Authority of etcd", "by default", "kubeadm", given("etcd-cafile")],
  [
    "1.2.27",
    "Encryption of Secrets",
    "by default",
    "`encryptSecretsAtRest`",
    given("encryption-provider-config"),
  ],
  [
    "1.2.28",
    "Provider of encryption",
    "by default",
    "secretbox",
    'grep -q secretbox "$(argument kube-apiserver --encryption-provider-config)"',
  ],
  [
    "1.2.29",
    "Ciphers of the API server",
    "profile",
    "TLS 1.2 with ECDHE and AES-GCM, or TLS 1.3",
    `${has("tls-min-version=VersionTLS12")} && ${given("tls-cipher-suites")}`,
  ],
  [
    "1.2.30",
    "Tokens of service accounts are not extended",
    "profile",
    PROFILE_ARGUMENT,
    has("service-account-extend-token-expiration=false"),
  ],
];
