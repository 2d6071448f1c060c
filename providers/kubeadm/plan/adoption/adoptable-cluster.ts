import { isObject } from "../../../../lib/json";
import { listed, printable, quoted } from "../../../../lib/text/quote";
import { API_SERVER_PORT } from "../../../../lib/validation/ports";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import type { InspectedMachine, KubeadmObjects, MemberFacts } from "./adoption-facts";

/** The only folder of certificates that joins, calls to etcd and the renewal of certificates know. */
const CERTIFICATES = "/etc/kubernetes/pki";

/** Returns why a cluster can't be adopted, from what kubeadm stores in it. What foresail would need can't be configured. */
export function adoptabilityIssues({ clusterConfiguration: made }: KubeadmObjects): ValidationIssue[] {
  const at = (condition: boolean, message: string) => issueAt(["adopt"], condition ? message : undefined);
  if (made === undefined)
    return at(
      true,
      "the cluster has no ConfigMap kube-system/kubeadm-config: kubeadm did not make it, and can't upgrade it",
    );
  const networking = isObject(made.networking) ? made.networking : {};
  const etcd = isObject(made.etcd) ? made.etcd : {};
  const dual = ["podSubnet", "serviceSubnet"].filter((field) => String(networking[field]).includes(","));
  const { certificatesDir = CERTIFICATES } = made;
  return [
    ...at(
      String(certificatesDir).replace(/\/+$/, "") !== CERTIFICATES,
      `the ConfigMap kubeadm-config has certificatesDir: ${quoted(String(certificatesDir))}, and foresail works with ${CERTIFICATES}: a machine that joins would not find its certificate authority; move the certificates there on each machine, and change the field and the kubelets' clientCAFile, before you adopt the cluster`,
    ),
    ...at(
      isObject(etcd.external),
      "the cluster has an external etcd, and foresail manages etcd on the control planes",
    ),
    ...at(
      dual.length > 0,
      `the cluster has two IP families (networking.${listed(dual)}), and foresail manages IPv4`,
    ),
  ];
}

/** Returns why a member can't be adopted, from how its API server runs and from the runtime that kubeadm knows. */
export function serverIssues(inspected: readonly InspectedMachine[]): ValidationIssue[] {
  return inspected.flatMap(({ machine: { name }, facts }, index) =>
    serverIssuesOf(facts).flatMap((message) => issueAt(["machines", index], `${name}: ${message}`)),
  );
}

function serverIssuesOf({ apiServerPort, authorityFile }: MemberFacts): string[] {
  return [
    ...(apiServerPort !== undefined && apiServerPort !== String(API_SERVER_PORT)
      ? [
          `its API server listens at port ${printable(apiServerPort)} (--secure-port), and foresail reaches API servers at ${API_SERVER_PORT}; change localAPIEndpoint.bindPort to ${API_SERVER_PORT} on it before you adopt the cluster`,
        ]
      : []),
    ...(authorityFile !== undefined && !authorityFile.startsWith(`${CERTIFICATES}/`)
      ? [
          `its API server reads its certificate authority from ${printable(authorityFile)} (--client-ca-file), and foresail works with ${CERTIFICATES}; move the certificates there before you adopt the cluster`,
        ]
      : []),
  ];
}

/** The socket of containerd, with or without its scheme and with the older folder. */
const CONTAINERD = /^(unix:\/\/)?(\/var)?\/run\/containerd\/containerd\.sock$/;

/**
 * Returns why kubeadm would call another container runtime on a Node than the one that it has: an annotation that is older
 * than a change of the runtime.
 *
 * @param socket the annotation that kubeadm wrote; undefined without one
 */
export function socketIssue(node: string, socket: string | undefined): string | undefined {
  if (socket === undefined || CONTAINERD.test(socket)) return undefined;
  return `kubeadm calls the container runtime of its Node at ${quoted(socket)} (annotation ${CRI_SOCKET}), and foresail works with containerd; run: kubectl annotate node ${printable(node)} --overwrite ${CRI_SOCKET}=unix:///run/containerd/containerd.sock`;
}

/** The annotation in which kubeadm records the socket of a Node's container runtime. */
export const CRI_SOCKET = "kubeadm.alpha.kubernetes.io/cri-socket";

/** A pod, as far as it shows whether a manifest on a machine made it. */
interface SystemPod {
  metadata?: { name?: string; annotations?: Readonly<Record<string, string>> };
  spec?: { nodeName?: string };
}

/** The annotation of the object that the kubelet makes for a static pod. */
const MIRROR = "kubernetes.io/config.mirror";
const OF_KUBEADM = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Returns the names of the static pods that kubeadm did not make, each once, without the name of its Node. */
export function staticPodsOf(pods: readonly SystemPod[]): string[] {
  const names = pods.flatMap(({ metadata, spec }) => {
    const { name = "", annotations = {} } = metadata ?? {};
    if (!(MIRROR in annotations)) return [];
    const end = `-${spec?.nodeName ?? ""}`;
    return [name.endsWith(end) ? name.slice(0, -end.length) : name];
  });
  return [...new Set(names)].filter((name) => !OF_KUBEADM.includes(name)).sort();
}
