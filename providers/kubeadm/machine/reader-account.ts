/** Name of the read-only account, for previews by users without write permission. */
export const READER = "foresail-reader";
const NAMESPACE = "kube-system";
const RBAC = "rbac.authorization.k8s.io/v1";
const LOOK = ["get", "list", "watch"];

/** Returns a role and its binding; roles here grant no Secrets and no verbs that write. */
function role(kind: "ClusterRole" | "Role", rules: object[]) {
  const metadata = { name: READER, ...(kind === "Role" ? { namespace: NAMESPACE } : {}) };
  return [
    { apiVersion: RBAC, kind, metadata, rules },
    {
      apiVersion: RBAC,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: READER },
      subjects: [{ kind: "ServiceAccount", name: READER, namespace: NAMESPACE }],
    },
  ];
}

/** Objects of the reader's account, which reads what previews read. Its tokens come from `kubectl create token`. */
export const READER_OBJECTS = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: READER, namespace: NAMESPACE } },
  ...role("ClusterRole", [
    { apiGroups: [""], resources: ["nodes", "pods"], verbs: LOOK },
    { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: LOOK },
  ]),
  ...role("Role", [
    {
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["kubeadm-config", "foresail-history"],
      verbs: LOOK,
    },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["foresail"], verbs: LOOK },
  ]),
];
