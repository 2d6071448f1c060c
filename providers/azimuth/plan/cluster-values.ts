import type { JsonObject } from "../../../lib/merge";
import type { RequiredField } from "../../kubernetes/plan/required-fields";
import type { ClusterAddons, ClusterSpecification, NodeGroup } from "./cluster";
import { matchesGlob } from "./glob";
import { isObject, mergeValues } from "./values";

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
export function specificationValues(cluster: ClusterSpecification, oidc?: OidcIssuer): JsonObject {
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

function nodeGroupValues({ name, machineSize, autoscale, count, minCount, maxCount }: NodeGroup): JsonObject {
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
  const { ingress, ingressControllerLoadBalancerIp: address, monitoring } = addons;
  const claim = (size: number): JsonObject => ({
    volumeClaimTemplate: { spec: { resources: { requests: { storage: `${size}Gi` } } } },
  });
  return {
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
export function clusterValues(cluster: ClusterSpecification, sources: ClusterValueSources): JsonObject {
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
  return Array.isArray(values.nodeGroups) ? values.nodeGroups.filter(isObject) : [];
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
export function templateFields({ leaseName }: Pick<ClusterSpecification, "leaseName">): RequiredField[] {
  return [
    { path: "spec.values.kubernetesVersion" },
    { path: "spec.values.machineImageId" },
    ...(leaseName === undefined
      ? []
      : [{ path: "spec.values.nodeGroups[*].machineFlavor", neededBy: "a cluster with a lease" }]),
  ];
}
