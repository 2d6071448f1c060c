import { withCurrentNames } from "../../lib/pulumi/renamed-arguments";
import { MACHINE_POOL_RENAMES } from "../../providers/machine-pool/plan/manifest";
import * as pulumi from "@pulumi/pulumi";
import {
  isScaledByOthers,
  machinePoolManifest,
  type PoolReference,
} from "../../providers/machine-pool/plan/manifest";
import type { Counts } from "../../providers/machine-pool/plan/observed";
import { Adoption } from "../../providers/kubernetes/resources/adoption";
import { MachinePoolReady } from "../../providers/machine-pool/resources/machine-pool-ready";
import type { PoolNode } from "../../providers/machine-pool/resources/pool-inputs";

/** An object that the pool refers to: created or adopted if it has a specification, otherwise only referred to. */
export interface PoolObjectArgs {
  apiVersion: string;
  kind: string;
  /** Default: the pool's. */
  name?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  spec?: Record<string, unknown>;
}

/** Deadlines of the stages that a pool goes through. */
export interface MachinePoolTimeouts {
  bootstrapSeconds: number;
  infrastructureSeconds: number;
  nodesSeconds: number;
  deletionSeconds: number;
}

export interface MachinePoolArgs {
  /** Kubeconfig of the management cluster, with one context; secret. */
  kubeconfig: pulumi.Input<string>;
  /** Kubeconfig of the workload cluster; default: from the Secret <cluster>-kubeconfig on the management cluster. */
  workloadKubeconfig?: pulumi.Input<string>;
  /** Version of Cluster API's API. */
  api: "v1beta1" | "v1beta2";
  namespace: string;
  /** Name of the Cluster. */
  cluster: string;
  /** The source of the machines' join data. */
  bootstrap: { config: PoolObjectArgs } | { dataSecretName: string };
  /** The object that creates the machines. */
  infrastructure: PoolObjectArgs;
  replicas: number;
  /** Kubernetes version of the nodes; a new one rolls them. */
  version?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  failureDomains: string[];
  minReadySeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  /** Whether to take over the objects from their current owners. */
  adopt: boolean;
  timeouts: MachinePoolTimeouts;
}

/** A MachinePool of Cluster API with the objects that it refers to; waits until every node is Ready. */
export class MachinePool extends pulumi.ComponentResource {
  readonly nodes: pulumi.Output<PoolNode[]>;
  readonly phase: pulumi.Output<string>;
  readonly counts: pulumi.Output<Counts>;

  constructor(name: string, given: MachinePoolArgs, opts?: pulumi.ComponentResourceOptions) {
    super("foresail:machine-pool:MachinePool", name, {}, opts);
    const args = withCurrentNames(`MachinePool ${name}`, given, MACHINE_POOL_RENAMES);
    const bootstrap = "config" in args.bootstrap ? args.bootstrap.config : undefined;
    const beside = [
      ...this.object(`${name}-bootstrap`, name, args, bootstrap, "the bootstrap provider of this kind"),
      ...this.object(
        `${name}-infrastructure`,
        name,
        args,
        args.infrastructure,
        "the infrastructure provider of this kind",
      ),
    ];
    const pool = this.pool(name, args, beside);
    const ready = this.ready(name, args, [...beside, pool]);
    this.nodes = ready.nodes;
    this.phase = ready.phase;
    this.counts = ready.counts;
    this.registerOutputs({ nodes: this.nodes, phase: this.phase, counts: this.counts });
  }

  /** Returns an object that the pool refers to. Cluster API sets its owner, and the pool waits for its status. */
  private object(
    resource: string,
    pool: string,
    args: MachinePoolArgs,
    object: PoolObjectArgs | undefined,
    installedBy: string,
  ): Adoption[] {
    if (object?.spec === undefined) return [];
    const { apiVersion, kind, labels = {}, annotations = {}, spec } = object;
    const metadata = { name: object.name ?? pool, namespace: args.namespace, labels, annotations };
    return [
      new Adoption(
        resource,
        {
          kubeconfig: args.kubeconfig,
          object: { apiVersion, kind, metadata, spec },
          adopt: args.adopt,
          installedBy: `${installedBy} (clusterctl init)`,
          timeoutSeconds: args.timeouts.deletionSeconds,
        },
        { parent: this },
      ),
    ];
  }

  private pool(name: string, args: MachinePoolArgs, dependsOn: pulumi.Resource[]): Adoption {
    const { namespace, cluster, timeouts } = args;
    const installedBy =
      args.api === "v1beta2"
        ? "Cluster API 1.11 or newer (or write api: v1beta1)"
        : "Cluster API by clusterctl init (or write api: v1beta2, if it serves that)";
    return new Adoption(
      name,
      {
        kubeconfig: args.kubeconfig,
        object: machinePoolManifest({
          ...args,
          namespace,
          name,
          cluster,
          bootstrap:
            "config" in args.bootstrap
              ? { configRef: reference(args.bootstrap.config, name) }
              : { dataSecretName: args.bootstrap.dataSecretName },
          infrastructureRef: reference(args.infrastructure, name),
        }),
        adopt: args.adopt,
        ...(isScaledByOthers(args) ? { leave: ["spec.replicas"] } : {}),
        installedBy,
        timeoutSeconds: timeouts.deletionSeconds,
      },
      { parent: this, dependsOn },
    );
  }

  private ready(name: string, args: MachinePoolArgs, dependsOn: pulumi.Resource[]): MachinePoolReady {
    const { kubeconfig, workloadKubeconfig, api, namespace, cluster, replicas, version, timeouts } = args;
    const { bootstrap, infrastructure } = args;
    const { kind, name: named } = reference(infrastructure, name);
    return new MachinePoolReady(
      `${name}-ready`,
      {
        kubeconfig,
        ...(workloadKubeconfig === undefined ? {} : { workloadKubeconfig }),
        apiVersion: `cluster.x-k8s.io/${api}`,
        namespace,
        name,
        cluster,
        ...(isScaledByOthers(args) ? {} : { replicas }),
        ...(version === undefined ? {} : { version }),
        template: {
          infrastructure: `${kind} ${named}`,
          rest: { bootstrap, infrastructure: infrastructure.spec ?? {} },
        },
        timeouts: {
          bootstrap: timeouts.bootstrapSeconds,
          infrastructure: timeouts.infrastructureSeconds,
          nodes: timeouts.nodesSeconds,
        },
      },
      { parent: this, dependsOn },
    );
  }
}

function reference({ apiVersion, kind, name }: PoolObjectArgs, pool: string): PoolReference {
  return { apiVersion, kind, name: name ?? pool };
}
