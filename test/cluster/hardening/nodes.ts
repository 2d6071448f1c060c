import { PKI, type Row, UNIT } from "./check";

const KUBELET_CONFIGURATION = "/var/lib/kubelet/config.yaml";
const UNITS =
  "/etc/systemd/system/kubelet.service /usr/lib/systemd/system/kubelet.service /etc/systemd/system/kubelet.service.d /usr/lib/systemd/system/kubelet.service.d";
/** Section 4.1. */
export const NODE_FILES: Row[] = [
  ["4.1.1", "Mode of the kubelet's unit", "profile", UNIT, `private ${UNITS}`],
  ["4.1.2", "Owner of the kubelet's unit", "by default", "root", `owned ${UNITS}`],
  ["4.1.3", "Mode of kube-proxy's kubeconfig", "not applicable", "In a ConfigMap: kube-proxy runs in pods"],
  ["4.1.4", "Owner of kube-proxy's kubeconfig", "not applicable", "As 4.1.3"],
  ["4.1.5", "Mode of kubelet.conf", "by default", "kubeadm: 0600", "private /etc/kubernetes/kubelet.conf"],
  ["4.1.6", "Owner of kubelet.conf", "by default", "root", "owned /etc/kubernetes/kubelet.conf"],
  ["4.1.7", "Mode of the clients' authority", "by default", "foresail: 0600", `private ${PKI}/ca.crt`],
  ["4.1.8", "Owner of the clients' authority", "by default", "root", `owned ${PKI}/ca.crt`],
  [
    "4.1.9",
    "Mode of the kubelet's configuration",
    "by default",
    "foresail: 0600",
    `private ${KUBELET_CONFIGURATION}`,
  ],
  ["4.1.10", "Owner of the kubelet's configuration", "by default", "root", `owned ${KUBELET_CONFIGURATION}`],
];

const FIELD = "Field of the kubelet's configuration";
/** Sections 4.2 and 4.3. */
export const KUBELET: Row[] = [
  ["4.2.1", "No anonymous requests", "by default", "kubeadm", `setting '"anonymous":{"enabled":false}'`],
  [
    "4.2.2",
    "Not everything is allowed",
    "by default",
    "kubeadm: Webhook",
    `setting '"authorization":{"mode":"Webhook"'`,
  ],
  [
    "4.2.3",
    "Authority of clients",
    "by default",
    "kubeadm",
    `setting '"clientCAFile":"/etc/kubernetes/pki/ca.crt"'`,
  ],
  ["4.2.4", "No port without authentication", "profile", FIELD, `! setting '"readOnlyPort":[1-9]'`],
  [
    "4.2.5",
    "Idle connections end",
    "profile",
    "5 minutes",
    `setting '"streamingConnectionIdleTimeout":"5m0s"'`,
  ],
  ["4.2.6", "Chains of iptables", "by default", "On", `setting '"makeIPTablesUtilChains":true'`],
  ["4.2.7", "Name of the node", "by default", "The machine's own, unless the configuration has another one"],
  ["4.2.8", "Rate of events", "by default", "50 a second", `setting '"eventRecordQPS":50'`],
  ["4.2.9", "Certificate of the kubelet", "operator", "Self-signed; see 4.2.11"],
  [
    "4.2.10",
    "Rotation of client certificates",
    "by default",
    "kubeadm",
    `setting '"rotateCertificates":true'`,
  ],
  [
    "4.2.11",
    "Rotation of server certificates",
    "operator",
    "`serverTLSBootstrap` needs a controller that approves the requests, which foresail does not install",
  ],
  [
    "4.2.12",
    "Ciphers of the kubelet",
    "profile",
    "As 1.2.29",
    `setting '"tlsCipherSuites":\\["TLS_ECDHE_' && setting '"tlsMinVersion":"VersionTLS12"'`,
  ],
  ["4.2.13", "Processes of a pod", "profile", "4096", `setting '"podPidsLimit":4096'`],
  ["4.2.14", "Seccomp", "profile", FIELD, `setting '"seccompDefault":true'`],
  ["4.3.1", "Address of kube-proxy's metrics", "by default", "127.0.0.1"],
];

/** Section 5. */
export const POLICIES: Row[] = [
  [
    "5.1",
    "RBAC and service accounts",
    "operator",
    "foresail creates one account of its own, which can only read",
  ],
  ["5.2", "Pod security", "operator", "Labels of Pod Security Admission on namespaces"],
  [
    "5.3.1",
    "A network plugin with NetworkPolicies",
    "operator",
    "Cilium or Calico; flannel and the built-in network have none",
  ],
  ["5.3.2", "NetworkPolicies in all namespaces", "operator", "With the plugin of 5.3.1"],
  ["5.4", "Secrets", "operator", "In etcd they are encrypted: 1.2.27"],
  ["5.5", "Provenance of images", "operator", "An admission controller of your choice"],
  [
    "5.6",
    "Namespaces, seccomp, security contexts",
    "operator",
    "Seccomp is on by default with the profile: 4.2.14",
  ],
];
