import { resourceClass } from "../../../lib/pulumi/dynamic-resource";
import type { OwnerRef } from "../../kubernetes/plan/adoption";
import type { KeyedFile } from "../plan/zenith-values";

/** The common inputs of a cluster's resources on a management cluster. */
export interface AzimuthInputs {
  /** Kubeconfig of the management cluster; secret. */
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  namespace: string;
  /** Name of the cluster. */
  cluster: string;
  steps?: string[];
}

const secrets: "kubeconfig"[] = ["kubeconfig"];

export interface ClusterGoneInputs extends AzimuthInputs {
  /** How long a destroy waits until the cluster's machines are gone. */
  timeoutSeconds: number;
}

/**
 * Does nothing until it is deleted; then it waits until Cluster API's Cluster is gone. What the cluster needs is
 * deleted after that. The chart that creates the Cluster depends on this resource and is therefore deleted first.
 */
export class ClusterGone extends resourceClass<ClusterGoneInputs>("azimuth/ClusterGone", { secrets }) {}

export interface ClusterReadyInputs extends AzimuthInputs {
  /** The Lease of the cluster, if it has one. */
  leaseName?: string;
  /** Hash of the run's spec and values; a new one changes machines. */
  fingerprint: string;
  /** How long to wait. */
  timeoutSeconds: number;
}

export interface ClusterReadyOutputs extends ClusterReadyInputs {
  /** The cluster's phase at the end of the wait, as Azimuth shows it. */
  phase: string;
  /** The administrator's kubeconfig of the cluster; secret. */
  clusterKubeconfig: string;
}

/** Waits until the control plane and all machines are Ready, and reads the cluster's kubeconfig. */
export class ClusterReady extends resourceClass<ClusterReadyInputs, ClusterReadyOutputs>(
  "azimuth/ClusterReady",
  { outputs: ["phase", "clusterKubeconfig"], secrets: ["kubeconfig", "clusterKubeconfig"] },
) {}

export interface DestroyGuardInputs extends AzimuthInputs {
  /** The stack's identity and its name "organization/project/stack". */
  stackOwner: { id: string; stack: string };
  /** Whether the cluster's owner is a Cluster record; otherwise it is a ConfigMap. */
  hasRecord: boolean;
}

/**
 * Does nothing until it is deleted, before everything else of the cluster: then it refuses a cluster that another stack has
 * taken over, whose Helm release would be uninstalled.
 */
export class DestroyGuard extends resourceClass<DestroyGuardInputs>("azimuth/DestroyGuard", { secrets }) {}

export interface EtcdKeyOutputs extends AzimuthInputs {
  /** Whether this stack created the Secret and therefore deletes it. */
  made: boolean;
}

/**
 * The Secret <cluster>-etcd-key with the key that encrypts the cluster's Secrets, if its template enables that. Created
 * once and never replaced; only the Secret contains the key.
 */
export class EtcdKey extends resourceClass<AzimuthInputs, EtcdKeyOutputs>("azimuth/EtcdKey", {
  outputs: ["made"],
  secrets,
}) {}

export interface RecordPruneInputs extends AzimuthInputs {
  /** The Lease of the cluster, if it has one. */
  leaseName?: string;
}

/** Updates the nodes, addons and phases in the status of the Cluster record: removes what no longer exists. */
export class RecordPrune extends resourceClass<RecordPruneInputs>("azimuth/RecordPrune", { secrets }) {}

export interface ServiceSyncInputs extends AzimuthInputs {
  /** Whether there is a Cluster record, whose status lists the services. */
  hasRecord: boolean;
}

/**
 * Keeps the services of a cluster equal in its record, the annotations of its addons and its Platform. Writes when an
 * `up` finds a difference; the monitor does the same between runs.
 */
export class ServiceSync extends resourceClass<ServiceSyncInputs>("azimuth/ServiceSync", { secrets }) {}

export interface StatusStampInputs extends AzimuthInputs {
  /** "start" writes it before everything else, and only if it is not set; "end" writes it afterwards. */
  moment: "start" | "end";
  /** Hash of the run's spec; a new value writes the time again. */
  fingerprint: string;
  /** The Lease of the cluster, if it has one. Absent in older states. */
  leaseName?: string;
}

/**
 * `status.lastUpdated` of the Cluster record, written when the specification or the values have changed. At the end, it
 * is cleared if the cluster is Ready or Failed, because no transition is left.
 */
export class StatusStamp extends resourceClass<StatusStampInputs>("azimuth/StatusStamp", { secrets }) {}

export interface ZenithKeypairInputs extends AzimuthInputs {
  /** The address of the registrar's admin API. */
  registrarAdminUrl: string;
  /** The owner of the Secret. */
  owner: OwnerRef;
  /** How long to retry the registrar. */
  timeoutSeconds: number;
  /**
   * Files that contain the key, with a placeholder for it; without any, their Secret is not created. Undefined in older
   * states.
   */
  files?: KeyedFile[];
  /** Why the files' chart can't be used; then nothing is created. */
  chartIssue?: string;
}

export interface ZenithKeypairOutputs extends ZenithKeypairInputs {
  subdomain: string;
  fqdn: string;
  /** OpenSSH text. */
  privateKey: string;
  publicKey: string;
  /** Whether this stack created the Secret and therefore deletes it. */
  made: boolean;
}

/**
 * The key with which the cluster's API server connects to Zenith, and the name that Zenith reserved for it: created
 * once, in the Secret <cluster>-zenith-apiserver, and never replaced. The files that contain the key are in
 * <cluster>-zenith-files.
 */
export class ZenithKeypair extends resourceClass<ZenithKeypairInputs, ZenithKeypairOutputs>(
  "azimuth/ZenithKeypair",
  {
    outputs: ["subdomain", "fqdn", "privateKey", "publicKey", "made"],
    secrets: ["kubeconfig", "privateKey"],
  },
) {}
