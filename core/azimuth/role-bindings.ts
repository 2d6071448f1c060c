import { stringify } from "yaml";
import type { JsonObject } from "../merge";

/** Where the bindings lie in the cluster, and who they are for. */
export interface RoleBindingWish {
  /** ClusterRole that the users get. */
  clusterRole: string;
  /** `status.platformUsersGroup` of the Realm; only realms of a tenancy have it. */
  platformUsersGroup?: string;
  /** `status.rootGroup` of the cluster's Platform. */
  rootGroup: string;
}

/** What the API server puts before a group of the identity provider. */
const GROUP_PREFIX = "oidc:";

/** The chart's addon that lets the cluster's users in: a binding for the groups of Realm and Platform. */
export function roleBindingValues({
  clusterRole,
  platformUsersGroup,
  rootGroup,
}: RoleBindingWish): JsonObject {
  const groups = [...(platformUsersGroup ? [platformUsersGroup] : []), rootGroup];
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "oidc-default-users" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: clusterRole },
    subjects: groups.map((group) => ({
      apiGroup: "rbac.authorization.k8s.io",
      kind: "Group",
      name: `${GROUP_PREFIX}${group}`,
    })),
  };
  const manifests = { "default-users.yaml": stringify(binding) };
  return {
    addons: {
      custom: { "oidc-default-rbac": { kind: "Manifests", spec: { namespace: "oidc-system", manifests } } },
    },
  };
}
