import type { NewObject } from "../../lib/kubernetes";
import type { OwnerRef } from "../../providers/kubernetes/plan/adoption";

export const CLUSTER_GROUP = "cluster.x-k8s.io";
export const CLUSTER_API = `${CLUSTER_GROUP}/v1beta1`;
const BOOTSTRAP_API = "bootstrap.cluster.x-k8s.io/v1beta1";
export const INFRASTRUCTURE_API = "infrastructure.cluster.x-k8s.io/v1beta1";
const CONFIG_KIND = "SandboxConfig";
export const POOL_KIND = "SandboxMachinePool";

/** The kinds of Cluster API that its providers read beside their own. */
export const CLUSTER_API_KINDS = ["MachinePool", "Cluster"].map((kind) => ({
  apiVersion: CLUSTER_API,
  kind,
}));

/** A kind of a provider. */
export interface ProviderKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** as in URLs: "sandboxconfigs" */
  readonly plural: string;
}

/** The kinds that the simulated providers serve: one of bootstrap objects, and one of machine pools. */
export interface ProviderKinds {
  readonly config: ProviderKind;
  readonly pool: ProviderKind;
}

/** The simulated providers' own kinds. */
export const SANDBOX_KINDS: ProviderKinds = {
  config: { apiVersion: BOOTSTRAP_API, kind: CONFIG_KIND, plural: "sandboxconfigs" },
  pool: { apiVersion: INFRASTRUCTURE_API, kind: POOL_KIND, plural: "sandboxmachinepools" },
};

/** Annotation that requests a fault of a simulated provider; the values are in `Fault`. */
export const FAULT = "sandbox.foresail.dev/fault";

/**
 * The faults of a simulated provider. For a config: "never-ready". For a pool: "failed" (for good, with a reason),
 * "no-nodes" (machines that never register), "not-ready" (its last node is not Ready), "stuck" (its deletion never
 * ends), "silent" (a roll begins 3 s after the change, and its status never tells), "bad-template" (no machine of
 * another template can be created: a condition of severity Error, with the id of each request).
 */
export type Fault = "never-ready" | "failed" | "no-nodes" | "not-ready" | "stuck" | "silent" | "bad-template";

interface Meta {
  name: string;
  namespace: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerRef[];
  deletionTimestamp?: string;
}

export interface Condition {
  type: string;
  status: "True" | "False";
  /** "Error", "Warning" or "Info" */
  severity?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface Cluster {
  metadata: Meta;
  spec?: { paused?: boolean };
  status?: { infrastructureReady?: boolean; conditions?: Condition[] };
}

export interface MachinePool {
  metadata: Meta;
  spec: {
    clusterName: string;
    replicas?: number;
    template: { spec: { version?: string; bootstrap: { dataSecretName?: string } } };
  };
  status?: { nodeRefs?: { name: string }[] };
}

export interface SandboxConfig {
  metadata: Meta;
  spec?: Record<string, unknown>;
  status?: {
    ready?: boolean;
    dataSecretName?: string;
    conditions?: Condition[];
    observedGeneration?: number;
  };
}

/** A machine of a pool, as the pool's status keeps it. */
export interface Instance {
  name: string;
  /** its template; a new revision triggers a rollout */
  revision: string;
  version: string;
}

export interface SandboxMachinePool {
  metadata: Meta;
  spec?: { providerIDList?: string[]; template?: Record<string, unknown> };
  status?: {
    ready?: boolean;
    replicas?: number;
    instances?: Instance[];
    made?: number;
    failureReason?: string;
    failureMessage?: string;
    conditions?: Condition[];
    observedGeneration?: number;
  };
}

const OPEN = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function definition({ kind, plural, apiVersion }: ProviderKind): NewObject {
  const [group = "", version = ""] = apiVersion.split("/");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    // Cluster API uses this label to find the version that follows its contract
    metadata: { name: `${plural}.${group}`, labels: { [`${CLUSTER_GROUP}/v1beta1`]: version } },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: OPEN, status: OPEN } } },
        },
      ],
    },
  };
}

/** Returns the definitions of the kinds that the simulated providers serve; they accept any spec. */
export function providerDefinitions({ config, pool }: ProviderKinds): NewObject[] {
  return [definition(config), definition(pool)];
}

/** Returns the owner of that kind from Cluster API's own group. */
export function ownerOfKind(metadata: Meta, kind: string): OwnerRef | undefined {
  return (metadata.ownerReferences ?? []).find(
    (owner) => owner.kind === kind && owner.apiVersion.startsWith(`${CLUSTER_GROUP}/`),
  );
}

/** Returns whether an object or its whole cluster is paused. */
export function isPaused(metadata: Meta, cluster: Cluster | undefined): boolean {
  const paused = metadata.annotations?.[`${CLUSTER_GROUP}/paused`];
  return paused !== undefined || cluster?.spec?.paused === true;
}
