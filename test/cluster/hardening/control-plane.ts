import { PKI, type Row, UNIT } from "./check";

const MANIFESTS = "/etc/kubernetes/manifests";
const manifest = (at: number, what: string, file: string): Row[] => [
  [
    `1.1.${at}`,
    `Mode of the ${what} manifest`,
    "by default",
    "kubeadm: 0600",
    `private ${MANIFESTS}/${file}.yaml`,
  ],
  [`1.1.${at + 1}`, `Owner of the ${what} manifest`, "by default", "root", `owned ${MANIFESTS}/${file}.yaml`],
];

/** Section 1.1. */
export const CONTROL_PLANE_FILES: Row[] = [
  ...manifest(1, "API server's", "kube-apiserver"),
  ...manifest(3, "controller manager's", "kube-controller-manager"),
  ...manifest(5, "scheduler's", "kube-scheduler"),
  ...manifest(7, "etcd", "etcd"),
  ["1.1.9", "Mode of the CNI's files", "profile", UNIT, "private /etc/cni/net.d"],
  ["1.1.10", "Owner of the CNI's files", "by default", "root", "owned /etc/cni/net.d"],
  [
    "1.1.11",
    "Mode of etcd's data folder",
    "profile",
    "At each start of the kubelet: 0700",
    'mode 700 "$(argument etcd --data-dir)"',
  ],
  [
    "1.1.12",
    "Owner of etcd's data folder",
    "not applicable",
    "etcd runs as root in a static pod, and owns its folder",
  ],
  [
    "1.1.13",
    "Mode of the administrators' kubeconfigs",
    "by default",
    "kubeadm: 0600",
    "private /etc/kubernetes/admin.conf",
  ],
  [
    "1.1.14",
    "Owner of the administrators' kubeconfigs",
    "by default",
    "root",
    "owned /etc/kubernetes/admin.conf",
  ],
  [
    "1.1.15",
    "Mode of scheduler.conf",
    "by default",
    "kubeadm: 0600",
    "private /etc/kubernetes/scheduler.conf",
  ],
  ["1.1.16", "Owner of scheduler.conf", "by default", "root", "owned /etc/kubernetes/scheduler.conf"],
  [
    "1.1.17",
    "Mode of controller-manager.conf",
    "by default",
    "kubeadm: 0600",
    "private /etc/kubernetes/controller-manager.conf",
  ],
  [
    "1.1.18",
    "Owner of controller-manager.conf",
    "by default",
    "root",
    "owned /etc/kubernetes/controller-manager.conf",
  ],
  ["1.1.19", "Owner of the PKI", "by default", "root", `owned ${PKI}`],
  ["1.1.20", "Mode of the PKI's certificates", "by default", "foresail: 0600", `private ${PKI}`],
  [
    "1.1.21",
    "Mode of the PKI's keys",
    "by default",
    "kubeadm: 0600",
    `test -z "$(find ${PKI} -name '*.key' ! -perm 600)"`,
  ],
];

const MANAGER = "kube-controller-manager";
/** Sections 1.3 and 1.4. */
export const CONTROLLERS: Row[] = [
  [
    "1.3.1",
    "Number of terminated pods",
    "profile",
    "1000",
    `has ${MANAGER} --terminated-pod-gc-threshold=1000`,
  ],
  [
    "1.3.2",
    "No profiling",
    "profile",
    "Argument of the controller manager",
    `has ${MANAGER} --profiling=false`,
  ],
  [
    "1.3.3",
    "Credentials for each controller",
    "by default",
    "kubeadm",
    `has ${MANAGER} --use-service-account-credentials=true`,
  ],
  [
    "1.3.4",
    "Key for tokens of service accounts",
    "by default",
    "kubeadm",
    `given ${MANAGER} --service-account-private-key-file`,
  ],
  ["1.3.5", "Authority for pods", "by default", "kubeadm", `given ${MANAGER} --root-ca-file`],
  [
    "1.3.6",
    "Rotation of the kubelets' server certificates",
    "by default",
    "The feature gate is on",
    `! has ${MANAGER} --feature-gates=RotateKubeletServerCertificate=false`,
  ],
  ["1.3.7", "Address", "by default", "kubeadm: 127.0.0.1", `has ${MANAGER} --bind-address=127.0.0.1`],
  ["1.4.1", "No profiling", "profile", "Argument of the scheduler", "has kube-scheduler --profiling=false"],
  ["1.4.2", "Address", "by default", "kubeadm: 127.0.0.1", "has kube-scheduler --bind-address=127.0.0.1"],
];

/** Section 2. */
export const ETCD: Row[] = [
  ["2.1", "Certificate of etcd", "by default", "kubeadm", "given etcd --cert-file && given etcd --key-file"],
  ["2.2", "Certificates of etcd's clients", "by default", "kubeadm", "has etcd --client-cert-auth=true"],
  ["2.3", "No self-signed certificate", "by default", "kubeadm", "! has etcd --auto-tls=true"],
  [
    "2.4",
    "Certificate between members",
    "by default",
    "kubeadm",
    "given etcd --peer-cert-file && given etcd --peer-key-file",
  ],
  ["2.5", "Certificates of members", "by default", "kubeadm", "has etcd --peer-client-cert-auth=true"],
  [
    "2.6",
    "No self-signed certificate between members",
    "by default",
    "kubeadm",
    "! has etcd --peer-auto-tls=true",
  ],
  [
    "2.7",
    "An authority of etcd's own",
    "by default",
    "kubeadm",
    `! cmp --silent ${PKI}/ca.crt ${PKI}/etcd/ca.crt`,
  ],
];

/** Section 3. */
export const CLUSTER: Row[] = [
  [
    "3.1.1",
    "No client certificates for users",
    "operator",
    "`authentication.oidc`; keep the administrator's kubeconfig for emergencies",
  ],
  ["3.1.2", "No service accounts for users", "operator", "`authentication.oidc`"],
  [
    "3.1.3",
    "No bootstrap tokens for users",
    "by default",
    "A token exists for at most 15 minutes, during a join",
  ],
  [
    "3.2.1",
    "Audit policy",
    "profile",
    "Of the profile, or your own",
    "given kube-apiserver --audit-policy-file",
  ],
  [
    "3.2.2",
    "What the policy covers",
    "profile",
    "Metadata of all requests but frequent reads of Kubernetes itself; changed permissions and exec with their requests",
    'grep -q rbac.authorization.k8s.io "$(argument kube-apiserver --audit-policy-file)"',
  ],
];
