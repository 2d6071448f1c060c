import type { ClusterSpecification } from "./cluster";
import { API, MANAGED_BY_LABEL, oidcClientName, platformName, TEMPLATE_LABEL } from "./names";

/** An object as it is written. */
interface WrittenObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

/** Where a cluster is. */
interface ClusterRef {
  name: string;
  namespace: string;
}

/** The Cluster by which Azimuth shows it. Paused, so that a running azimuth-capi-operator leaves it alone. */
export function clusterRecord({ name, namespace }: ClusterRef, spec: ClusterSpecification): WrittenObject {
  return {
    apiVersion: API.azimuth,
    kind: "Cluster",
    metadata: { name, namespace, labels: { [TEMPLATE_LABEL]: spec.templateName } },
    spec: { ...spec, paused: true },
  };
}

/** What owns a cluster's objects where no Cluster is kept. */
export function ownerConfigMap({ name, namespace }: ClusterRef): WrittenObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: ownerOf({ name, namespace }, false).name,
      namespace,
      labels: { [MANAGED_BY_LABEL]: "foresail" },
    },
    data: { cluster: name },
  };
}

/** What names the owner of a cluster's objects. */
export function ownerOf(
  { name }: ClusterRef,
  hasRecord: boolean,
): { apiVersion: string; kind: string; name: string } {
  return hasRecord
    ? { apiVersion: API.azimuth, kind: "Cluster", name }
    : { apiVersion: "v1", kind: "ConfigMap", name: `${name}-foresail` };
}

/** The client by which people log in to the cluster with `kubectl`. @param realmName a text, or what becomes one */
export function oidcClient({ name, namespace }: ClusterRef, realmName: unknown): WrittenObject {
  return {
    apiVersion: API.identity,
    kind: "OIDCClient",
    metadata: { name: oidcClientName(name), namespace, labels: { [MANAGED_BY_LABEL]: "foresail" } },
    spec: { realmName, public: true, grantTypes: ["DeviceCode"] },
  };
}

/**
 * The cluster's groups in the realm. Its services are written by those who follow them, not with this.
 *
 * @param realmName a text, or what becomes one
 */
export function platform({ name, namespace }: ClusterRef, realmName: unknown): WrittenObject {
  return {
    apiVersion: API.identity,
    kind: "Platform",
    metadata: { name: platformName(name), namespace, labels: { [MANAGED_BY_LABEL]: "foresail" } },
    spec: { realmName },
  };
}
