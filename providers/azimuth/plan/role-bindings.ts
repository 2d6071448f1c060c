import { stringify } from "yaml";
import type { JsonObject } from "../../../lib/merge";

/** A rule of a ClusterRole (rbac.authorization.k8s.io/v1). */
export interface PolicyRule {
  apiGroups?: string[] | undefined;
  resources?: string[] | undefined;
  resourceNames?: string[] | undefined;
  nonResourceURLs?: string[] | undefined;
  verbs: string[];
}

/** Name and rules of the ClusterRole that azimuth-capi-operator's chart gives to users by default: all rights. */
export const DEFAULT_ROLE_NAME = "oidc:default-users-cluster";
export const DEFAULT_ROLE_RULES: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/** The role of the cluster's users, and their groups. */
interface RoleBindingOptions {
  /** ClusterRole for the users; it is created if it has rules, and must exist otherwise. */
  role: { name: string; rules?: readonly PolicyRule[] };
  /** `status.platformUsersGroup` of the Realm; only a tenancy's realms have it. */
  platformUsersGroup?: string;
  /** `status.rootGroup` of the cluster's Platform. */
  rootGroup: string;
}

const RBAC = "rbac.authorization.k8s.io";
const API_VERSION = `${RBAC}/v1`;
/** The API server's prefix for groups of the identity provider. */
const GROUP_PREFIX = "oidc:";

/**
 * Returns the values of the chart's addon that gives the cluster's users access: a binding for the groups of Realm and
 * Platform. A role with rules includes its ClusterRole, in the same files as azimuth-capi-operator writes.
 */
export function roleBindingValues({ role, platformUsersGroup, rootGroup }: RoleBindingOptions): JsonObject {
  const { name, rules } = role;
  const groups = [...(platformUsersGroup ? [platformUsersGroup] : []), rootGroup];
  const binding = {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name: rules ? name : "oidc-default-users" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
    subjects: groups.map((group) => ({ apiGroup: RBAC, kind: "Group", name: `${GROUP_PREFIX}${group}` })),
  };
  const clusterRole = { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name }, rules };
  const manifests: JsonObject = rules
    ? {
        "oidc-default-cluster-role.yaml": stringify(clusterRole),
        "oidc-default-cluster-role-binding.yaml": stringify(binding),
      }
    : { "default-users.yaml": stringify(binding) };
  return {
    addons: {
      custom: { "oidc-default-rbac": { kind: "Manifests", spec: { namespace: "oidc-system", manifests } } },
    },
  };
}
