import type { Identity } from "../../kubernetes/plan/identity";
import { API, azimuthRefs, type ClusterRef, MANAGED_BY_LABEL, TEMPLATE_LABEL } from "./names";

/** The desired cluster, as in the spec of an Azimuth Cluster (group azimuth.stackhpc.com, v1alpha1). */
export interface AzimuthSpec {
  /** The name that users see. */
  label: string;
  /** Name of a ClusterTemplate. */
  templateName: string;
  /** Secret with `clouds.yaml`, in the cluster's namespace. */
  cloudCredentialsSecretName: string;
  /** Realm in the cluster's namespace; default: the first one. */
  zenithIdentityRealmName?: string;
  /** Lease in the cluster's namespace. */
  leaseName?: string;
  /** Whether machines that stay unhealthy are replaced. */
  autohealing: boolean;
  /** Flavor of the control planes, by name. */
  controlPlaneMachineSize: string;
  nodeGroups: GroupSpec[];
  addons: ClusterAddons;
}

export interface GroupSpec {
  name: string;
  /** Flavor of its machines, by name. */
  machineSize: string;
  autoscale: boolean;
  /** For a group without autoscaling. */
  count?: number;
  /** For a group with autoscaling. */
  minCount?: number;
  maxCount?: number;
}

export interface ClusterAddons {
  /** Whether Headlamp is installed; when absent, as the template and the chart say. */
  dashboard?: boolean;
  ingress: boolean;
  /** IPv4 address. */
  ingressControllerLoadBalancerIp?: string;
  monitoring: boolean;
  /** Sizes of volumes, in GB. */
  monitoringAlertmanagerVolumeSize: number;
  monitoringPrometheusVolumeSize: number;
  monitoringLokiVolumeSize: number;
}

/** An object to write. */
interface WrittenObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

const LABELS = { [MANAGED_BY_LABEL]: "foresail" };

/**
 * Returns the Cluster with which Azimuth shows the cluster. It is paused, so that a running azimuth-capi-operator
 * ignores it.
 */
export function clusterRecord(ref: ClusterRef, spec: AzimuthSpec): WrittenObject {
  const labels = { [TEMPLATE_LABEL]: spec.templateName };
  return objectOf(azimuthRefs(ref).record, labels, { spec: { ...spec, paused: true } });
}

/** Returns the owner of a cluster's objects when no Cluster is kept. */
export function ownerConfigMap(ref: ClusterRef): WrittenObject {
  return objectOf({ ...ownerReferenceOf(ref, false), ...ref }, LABELS, { data: { cluster: ref.cluster } });
}

/** Returns the reference to the owner of a cluster's objects. */
export function ownerReferenceOf(
  { cluster }: Pick<ClusterRef, "cluster">,
  hasRecord: boolean,
): { apiVersion: string; kind: string; name: string } {
  return hasRecord
    ? { apiVersion: API.azimuth, kind: "Cluster", name: cluster }
    : { apiVersion: "v1", kind: "ConfigMap", name: `${cluster}-foresail` };
}

/**
 * Returns the client with which users log in to the cluster with `kubectl`. @param realmName a string or an output of
 * one
 */
export function oidcClient(ref: ClusterRef, realmName: unknown): WrittenObject {
  const spec = { realmName, public: true, grantTypes: ["DeviceCode"] };
  return objectOf(azimuthRefs(ref).oidcClient, LABELS, { spec });
}

/**
 * Returns the Platform for the cluster's groups in the realm. ServiceSync and the monitor write its services.
 *
 * @param realmName a string or an output of one
 */
export function platform(ref: ClusterRef, realmName: unknown): WrittenObject {
  return objectOf(azimuthRefs(ref).platform, LABELS, { spec: { realmName } });
}

function objectOf(
  { apiVersion, kind, namespace, name }: Identity & { namespace: string },
  labels: Record<string, string>,
  content: object,
): WrittenObject {
  return { apiVersion, kind, metadata: { name, namespace, labels }, ...content };
}

/** Length of the key in bytes, as kube-apiserver requires it for each of its providers. */
export const KEY_BYTES = 32;

/** The state of the Secret's `key`: correct, encoded twice, or not a key. */
type KeyState =
  | { state: "usable" }
  | { state: "encoded twice"; /** for the Secret's `data` */ data: string }
  | { state: "unusable"; bytes: number };

/**
 * Checks the key of the Secret <cluster>-etcd-key. The chart copies `data.key` into the API server's
 * EncryptionConfiguration, so it must decode to the 32 bytes of the key. Earlier releases of foresail encoded it twice:
 * 44 bytes, which no API server accepts, with the same key inside.
 *
 * @param data `data.key` as the API returns it: base64
 */
export function judgeKey(data: string | undefined): KeyState {
  const bytes = Buffer.from(data ?? "", "base64");
  if (bytes.length === KEY_BYTES) return { state: "usable" };
  const inner = bytes.toString("latin1");
  const decoded = Buffer.from(inner, "base64");
  const isEncodedTwice = decoded.length === KEY_BYTES && decoded.toString("base64") === inner;
  return isEncodedTwice
    ? { state: "encoded twice", data: inner }
    : { state: "unusable", bytes: bytes.length };
}
