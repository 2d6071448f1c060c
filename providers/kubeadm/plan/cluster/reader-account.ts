import type { NewObject } from "../../../../lib/kubernetes/objects";
import { ANNOTATION_POLICY } from "../rollout/annotation-policy";

/** Name of the read-only account, for previews by users without write permission. */
export const READER = "foresail-reader";
const NAMESPACE = "kube-system";
const RBAC_GROUP = "rbac.authorization.k8s.io";
const RBAC = `${RBAC_GROUP}/v1`;
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
      roleRef: { apiGroup: RBAC_GROUP, kind, name: READER },
      subjects: [{ kind: "ServiceAccount", name: READER, namespace: NAMESPACE }],
    },
  ];
}

const byName = (apiGroup: string, resources: string[], ...resourceNames: string[]) => ({
  apiGroups: [apiGroup],
  resources,
  resourceNames,
  verbs: LOOK,
});

/** The rules by which the account reads what foresail keeps in a cluster. */
const KEPT = {
  cluster: [
    byName(RBAC_GROUP, ["clusterroles", "clusterrolebindings"], READER),
    byName(
      "admissionregistration.k8s.io",
      ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
      ANNOTATION_POLICY,
    ),
  ],
  namespace: [byName("", ["serviceaccounts"], READER), byName(RBAC_GROUP, ["roles", "rolebindings"], READER)],
};

/**
 * Returns the objects of the reader's account, which reads what previews read. Its tokens come from `kubectl create token`.
 *
 * @param readsKept whether it reads what foresail keeps in the cluster, too
 * @param isOwned whether the cluster records its owner
 */
export function readerObjects(readsKept: boolean, isOwned: boolean): NewObject[] {
  const kept = readsKept ? KEPT : { cluster: [], namespace: [] };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: READER, namespace: NAMESPACE } },
    ...role("ClusterRole", [
      { apiGroups: [""], resources: ["nodes", "pods"], verbs: LOOK },
      { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: LOOK },
      ...kept.cluster,
    ]),
    ...role("Role", [
      byName(
        "",
        ["configmaps"],
        "kubeadm-config",
        "foresail-history",
        ...(isOwned ? ["foresail-owner"] : []),
      ),
      byName("coordination.k8s.io", ["leases"], "foresail"),
      ...kept.namespace,
    ]),
  ];
}
