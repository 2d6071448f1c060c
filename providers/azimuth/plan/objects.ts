import type { ClusterSpecification } from "./cluster";
import { API, MANAGED_BY_LABEL, oidcClientName, platformName, TEMPLATE_LABEL } from "./names";

/** An object to write. */
interface WrittenObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

/** A cluster's name and namespace. */
interface ClusterRef {
  name: string;
  namespace: string;
}

/**
 * Returns the Cluster with which Azimuth shows the cluster. It is paused, so that a running azimuth-capi-operator
 * ignores it.
 */
export function clusterRecord({ name, namespace }: ClusterRef, spec: ClusterSpecification): WrittenObject {
  return {
    apiVersion: API.azimuth,
    kind: "Cluster",
    metadata: { name, namespace, labels: { [TEMPLATE_LABEL]: spec.templateName } },
    spec: { ...spec, paused: true },
  };
}

/** Returns the owner of a cluster's objects when no Cluster is kept. */
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

/** Returns the reference to the owner of a cluster's objects. */
export function ownerOf(
  { name }: ClusterRef,
  hasRecord: boolean,
): { apiVersion: string; kind: string; name: string } {
  return hasRecord
    ? { apiVersion: API.azimuth, kind: "Cluster", name }
    : { apiVersion: "v1", kind: "ConfigMap", name: `${name}-foresail` };
}

/**
 * Returns the client with which users log in to the cluster with `kubectl`. @param realmName a string or an output of
 * one
 */
export function oidcClient({ name, namespace }: ClusterRef, realmName: unknown): WrittenObject {
  return {
    apiVersion: API.identity,
    kind: "OIDCClient",
    metadata: { name: oidcClientName(name), namespace, labels: { [MANAGED_BY_LABEL]: "foresail" } },
    spec: { realmName, public: true, grantTypes: ["DeviceCode"] },
  };
}

/**
 * Returns the Platform for the cluster's groups in the realm. ServiceSync and the monitor write its services.
 *
 * @param realmName a string or an output of one
 */
export function platform({ name, namespace }: ClusterRef, realmName: unknown): WrittenObject {
  return {
    apiVersion: API.identity,
    kind: "Platform",
    metadata: { name: platformName(name), namespace, labels: { [MANAGED_BY_LABEL]: "foresail" } },
    spec: { realmName },
  };
}
