/** Name of the account that may only look: for previews by whoever may not change anything. */
export const READER = "foresail-reader";
const NAMESPACE = "kube-system";
const RBAC = "rbac.authorization.k8s.io/v1";
const LOOK = ["get", "list", "watch"];

/** A role and what it grants; no secret is in it, and no verb that writes. */
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

/**
 * The objects of the reader's account: what check, diff and read look at, and nothing else. It has no token of its
 * own; whoever may hands one out with an end: `kubectl create token`.
 */
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
