import type * as pulumi from "@pulumi/pulumi";
import type { ReadinessGate, TIMEOUTS } from "../../providers/machine-pool/plan/manifest";

/** An object that the pool refers to: created or adopted if it has a specification, otherwise only referred to. */
export interface PoolObjectArgs {
  apiVersion: string;
  kind: string;
  /** @default the pool's */
  name?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  spec?: Record<string, unknown>;
}

/** The object that creates the machines. */
export interface InfrastructureArgs extends PoolObjectArgs {
  /** Paths in `spec` whose change replaces no machine, such as "template.tags". @default those of the provider, if foresail knows it */
  inPlaceFields?: string[];
}

/** Deadlines of the stages that a pool goes through. */
export type MachinePoolTimeouts = Record<keyof typeof TIMEOUTS, number>;

export interface MachinePoolArgs {
  /** Kubeconfig of the management cluster, with one context. Secret. */
  kubeconfig: pulumi.Input<string>;
  /** Kubeconfig of the workload cluster. @default from the Secret <cluster>-kubeconfig on the management cluster */
  workloadKubeconfig?: pulumi.Input<string>;
  /** Version of Cluster API's API. @default "v1beta1" */
  api?: "v1beta1" | "v1beta2";
  namespace: string;
  /** Name of the Cluster. */
  cluster: string;
  /** The source of the machines' join data; the Secret "" for a managed pool, whose provider needs none. */
  bootstrap: { config: PoolObjectArgs } | { dataSecretName: string };
  /** The object that creates the machines. */
  infrastructure: InfrastructureArgs;
  replicas: number;
  /** Kubernetes version of the nodes; a new one rolls them. */
  version?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  failureDomains?: string[];
  minReadySeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeDeletionTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
  /** Conditions of each Machine that have to hold, too, before it counts as ready. */
  readinessGates?: ReadinessGate[];
  /** Whether to take over the objects from other controllers or field managers; never from a stack. @default false */
  adopt?: boolean;
  /** Identity of another stack, from which the objects are taken over: a refusal names it. `unmarked` for objects that an earlier release marked. @default none */
  takeOver?: string | undefined;
  /** @default 600 for the bootstrap data, 1800 for each other stage */
  timeouts?: Partial<MachinePoolTimeouts>;
}
