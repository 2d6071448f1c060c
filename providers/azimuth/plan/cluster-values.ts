import { isObject } from "../../../lib/json";
import type { JsonObject } from "../../../lib/merge";
import type { RequiredField } from "../../kubernetes/plan/status";
import type { ClusterAddons, AzimuthSpec, GroupSpec } from "./objects";
import { matchesGlob } from "./glob";
import { mergeValues } from "./values";
import { stringify } from "yaml";

/** The issuer by which the cluster's API server authenticates users. */
export interface OidcIssuer {
  issuerUrl: string;
  clientId: string;
}

/** The sources of a cluster's Helm values besides its own specification. */
interface ClusterValueSources {
  /** Values of the management cluster, with the lowest precedence. */
  defaults?: JsonObject;
  /** `spec.values` of the ClusterTemplate. */
  template: JsonObject;
  /** undefined when the cluster has no OpenID Connect */
  oidc?: OidcIssuer;
  /** Pattern of a flavor's name, as `matchesGlob` reads it → values for node groups of that flavor. */
  nodeGroupOverrides?: Readonly<Record<string, JsonObject>>;
  /** `status.sizeNameMap` of the Lease. */
  sizes?: Readonly<Record<string, string>>;
  /** Values of Zenith, with the highest precedence. */
  zenith?: JsonObject;
  /** Bindings of the cluster's users; from `roleBindingValues`. */
  roleBindings?: JsonObject;
}

/** Returns the values of the chart `openstack-cluster` that follow from the specification alone. */
export function specificationValues(cluster: AzimuthSpec, oidc?: OidcIssuer): JsonObject {
  return {
    cloudCredentialsSecretName: cluster.cloudCredentialsSecretName,
    ...(oidc
      ? {
          oidc: {
            issuerUrl: oidc.issuerUrl,
            clientId: oidc.clientId,
            usernameClaim: "preferred_username",
          },
        }
      : {}),
    controlPlane: {
      machineFlavor: cluster.controlPlaneMachineSize,
      healthCheck: { enabled: cluster.autohealing },
    },
    nodeGroupDefaults: { healthCheck: { enabled: cluster.autohealing } },
    nodeGroups: cluster.nodeGroups.map(nodeGroupValues),
    addons: addonValues(cluster.addons),
  };
}

function nodeGroupValues({ name, machineSize, autoscale, count, minCount, maxCount }: GroupSpec): JsonObject {
  return {
    name,
    machineFlavor: machineSize,
    autoscale,
    ...(autoscale
      ? { machineCountMin: minCount ?? null, machineCountMax: maxCount ?? null }
      : { machineCount: count ?? null }),
  };
}

function addonValues(addons: ClusterAddons): JsonObject {
  const { dashboard, ingress, ingressControllerLoadBalancerIp: address, monitoring } = addons;
  const claim = (size: number): JsonObject => ({
    volumeClaimTemplate: { spec: { resources: { requests: { storage: `${size}Gi` } } } },
  });
  return {
    // left out when not set, so that clusters of earlier releases keep their values
    ...(dashboard === undefined ? {} : { headlamp: { enabled: dashboard } }),
    ingress: {
      enabled: ingress,
      // earlier charts have ingress-nginx and later ones Traefik; each reads only its own key
      ...(address !== undefined
        ? {
            nginx: { release: { values: { controller: { service: { loadBalancerIP: address } } } } },
            traefik: { release: { values: { service: { spec: { loadBalancerIP: address } } } } },
          }
        : {}),
    },
    monitoring: {
      enabled: monitoring,
      ...(monitoring
        ? {
            kubePrometheusStack: {
              release: {
                values: {
                  alertmanager: {
                    alertmanagerSpec: { storage: claim(addons.monitoringAlertmanagerVolumeSize) },
                  },
                  prometheus: {
                    prometheusSpec: { storageSpec: claim(addons.monitoringPrometheusVolumeSize) },
                  },
                },
              },
            },
            lokiStack: {
              release: {
                values: { loki: { persistence: { size: `${addons.monitoringLokiVolumeSize}Gi` } } },
              },
            },
          }
        : {}),
    },
  };
}

/**
 * Returns the values of the chart `openstack-cluster`: defaults, template, specification, overrides by flavor, the
 * Lease's flavors, Zenith; each merged over the earlier ones by `mergeValues`.
 */
export function clusterValues(cluster: AzimuthSpec, sources: ClusterValueSources): JsonObject {
  const desired = mergeValues(
    sources.defaults,
    sources.template,
    specificationValues(cluster, sources.oidc),
    sources.roleBindings,
  );
  const overridden = withNodeGroupOverrides(desired, sources.nodeGroupOverrides ?? {});
  return mergeValues(withLeasedFlavors(overridden, sources.sizes ?? {}), sources.zenith);
}

function nodeGroups(values: JsonObject): JsonObject[] {
  return Array.isArray(values.nodeGroups)
    ? values.nodeGroups.flatMap((group) => (isObject(group) ? [group] : []))
    : [];
}

/** Returns the values with changed node groups; entries that are not objects stay for the chart to refuse. */
function withNodeGroups(values: JsonObject, change: (group: JsonObject) => JsonObject): JsonObject {
  if (!Array.isArray(values.nodeGroups)) return values;
  const changed = values.nodeGroups.map((group) => (isObject(group) ? change(group) : group));
  return { ...values, nodeGroups: changed };
}

function withNodeGroupOverrides(
  values: JsonObject,
  overrides: Readonly<Record<string, JsonObject>>,
): JsonObject {
  const patterns = Object.entries(overrides);
  return withNodeGroups(values, (group) => {
    const { machineFlavor } = group;
    if (typeof machineFlavor !== "string") return group;
    const matching = patterns.filter(([pattern]) => matchesGlob(pattern, machineFlavor));
    return mergeValues(group, ...matching.map(([, over]) => over));
  });
}

/**
 * Replaces requested flavors with those that a Lease reserved; keeps a name that the Lease does not have. Changes only
 * `machineFlavor` of the control plane and of the node groups.
 */
export function withLeasedFlavors(values: JsonObject, sizes: Readonly<Record<string, string>>): JsonObject {
  if (Object.keys(sizes).length === 0) return values;
  const { controlPlane } = values;
  const mapped = isObject(controlPlane)
    ? { ...values, controlPlane: withLeasedFlavor(controlPlane, sizes) }
    : values;
  return withNodeGroups(mapped, (group) => withLeasedFlavor(group, sizes));
}

function withLeasedFlavor(machines: JsonObject, sizes: Readonly<Record<string, string>>): JsonObject {
  const { machineFlavor: asked } = machines;
  if (typeof asked !== "string" || !Object.hasOwn(sizes, asked)) return machines;
  return { ...machines, machineFlavor: sizes[asked] };
}

/** Returns the requested flavors that the Lease did not reserve; their machines count against no reservation. */
export function unreservedSizes(
  values: JsonObject,
  sizes: Readonly<Record<string, string>>,
): { where: string; size: string }[] {
  const { controlPlane } = values;
  const machines = [
    { where: "controlPlane", size: (controlPlane as JsonObject | undefined)?.machineFlavor },
    ...nodeGroups(values).map((group, index) => ({
      where: `nodeGroups[${typeof group.name === "string" ? group.name : index}]`,
      size: group.machineFlavor,
    })),
  ];
  return machines.flatMap(({ where, size }) =>
    typeof size === "string" && !Object.hasOwn(sizes, size) ? [{ where, size }] : [],
  );
}

/** Returns the fields that a template needs for a cluster; without them, its chart would fail much later. */
export function templateFields({ leaseName }: Pick<AzimuthSpec, "leaseName">): RequiredField[] {
  return [
    { path: "spec.values.kubernetesVersion" },
    { path: "spec.values.machineImageId" },
    ...(leaseName === undefined
      ? []
      : [{ path: "spec.values.nodeGroups[*].machineFlavor", neededBy: "a cluster with a lease" }]),
  ];
}

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
/** Name of the ClusterRole that its chart gives to users in some namespaces. */
export const NAMESPACE_ROLE_NAME = "oidc:default-users-namespaced";
export const DEFAULT_ROLE_RULES: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/** The role of the cluster's users, and their groups. */
interface RoleBindingOptions {
  /** ClusterRole for the users; it is created if it has rules, and must exist otherwise. */
  role?: { name: string; rules?: readonly PolicyRule[] } | undefined;
  /** ClusterRole that is created for the users and bound in these namespaces, which have to exist. */
  namespaceRole?: NamespaceRole | undefined;
  /** `status.platformUsersGroup` of the Realm; only a tenancy's realms have it. */
  platformUsersGroup?: string;
  /** `status.rootGroup` of the cluster's Platform. */
  rootGroup: string;
}

/** A ClusterRole of the users that holds in some namespaces. */
export interface NamespaceRole {
  name: string;
  namespaces: readonly string[];
  rules: readonly PolicyRule[];
}

const RBAC = "rbac.authorization.k8s.io";
const API_VERSION = `${RBAC}/v1`;
/** The API server's prefix for groups of the identity provider. */
const GROUP_PREFIX = "oidc:";

/**
 * Returns the values of the chart's addon that gives the cluster's users access: a binding for the groups of Realm and
 * Platform. A role with rules includes its ClusterRole, in the same files as azimuth-capi-operator writes.
 */
export function roleBindingValues({
  role,
  namespaceRole,
  platformUsersGroup,
  rootGroup,
}: RoleBindingOptions): JsonObject {
  const groups = [...(platformUsersGroup ? [platformUsersGroup] : []), rootGroup];
  const subjects = groups.map((group) => ({
    apiGroup: RBAC,
    kind: "Group",
    name: `${GROUP_PREFIX}${group}`,
  }));
  const manifests: JsonObject = {
    ...(role ? clusterRoleManifests(role, subjects) : {}),
    ...(namespaceRole ? namespaceRoleManifests(namespaceRole, subjects) : {}),
  };
  return {
    addons: {
      custom: { "oidc-default-rbac": { kind: "Manifests", spec: { namespace: "oidc-system", manifests } } },
    },
  };
}

const roleRef = (name: string) => ({ apiGroup: RBAC, kind: "ClusterRole", name });

function clusterRoleManifests(
  { name, rules }: { name: string; rules?: readonly PolicyRule[] },
  subjects: object[],
): JsonObject {
  const binding = {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name: rules ? name : "oidc-default-users" },
    roleRef: roleRef(name),
    subjects,
  };
  if (!rules) return { "default-users.yaml": stringify(binding) };
  const clusterRole = { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name }, rules };
  return {
    "oidc-default-cluster-role.yaml": stringify(clusterRole),
    "oidc-default-cluster-role-binding.yaml": stringify(binding),
  };
}

function namespaceRoleManifests({ name, namespaces, rules }: NamespaceRole, subjects: object[]): JsonObject {
  const role = { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name }, rules };
  const bindings = namespaces.map((namespace) => ({
    apiVersion: API_VERSION,
    kind: "RoleBinding",
    metadata: { name, namespace },
    roleRef: roleRef(name),
    subjects,
  }));
  return {
    "oidc-default-namespace-role.yaml": stringify(role),
    "oidc-default-namespace-role-bindings.yaml": bindings.map((binding) => stringify(binding)).join("---\n"),
  };
}
