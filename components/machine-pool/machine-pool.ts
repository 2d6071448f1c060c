import * as pulumi from "@pulumi/pulumi";
import {
  isScaledByOthers,
  MACHINE_POOL_RENAMES,
  machinePoolManifest,
  type PoolReference,
  TIMEOUTS,
} from "../../providers/machine-pool/plan/manifest";
import type { Counts } from "../../providers/machine-pool/plan/observed";
import { MachinePoolReady } from "../../providers/machine-pool/resources/machine-pool-ready";
import type { PoolNode } from "../../providers/machine-pool/resources/machine-pool-ready";
import { kubernetesProviderIssues, refuseArguments, withCurrentNames } from "../../lib/pulumi/arguments";
import { Adoption } from "../adoption";
import type { MachinePoolArgs, MachinePoolTimeouts, PoolObjectArgs } from "./machine-pool-args";
import { argumentIssues } from "./validation";

const DEFAULTS = {
  api: "v1beta1" as "v1beta1" | "v1beta2",
  labels: {} as Record<string, string>,
  annotations: {} as Record<string, string>,
  failureDomains: [] as string[],
  adopt: false as boolean,
};

const INSTALLED_BY = {
  v1beta1: "Cluster API by clusterctl init (or write api: v1beta2, if it serves that)",
  v1beta2: "Cluster API 1.11 or newer (or write api: v1beta1)",
};

/** A MachinePool of Cluster API with the objects that it refers to; waits until every node is Ready. */
export class MachinePool extends pulumi.ComponentResource {
  readonly nodes: pulumi.Output<PoolNode[]>;
  readonly phase: pulumi.Output<string>;
  readonly counts: pulumi.Output<Counts>;

  private readonly args: MachinePoolArgs & typeof DEFAULTS & { timeouts: MachinePoolTimeouts };

  constructor(
    private readonly poolName: string,
    given: MachinePoolArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    const args = withCurrentNames(`MachinePool ${poolName}`, given, MACHINE_POOL_RENAMES);
    refuseArguments(`MachinePool ${poolName}`, [
      ...argumentIssues(poolName, args),
      ...kubernetesProviderIssues(opts),
    ]);
    super("foresail:machine-pool:MachinePool", poolName, {}, opts);
    this.args = { ...DEFAULTS, ...args, timeouts: { ...TIMEOUTS, ...args.timeouts } };
    const beside = [
      ...("config" in args.bootstrap ? this.object("bootstrap", args.bootstrap.config) : []),
      ...this.object("infrastructure", args.infrastructure),
    ];
    const pool = this.pool(beside);
    const { nodes, phase, counts } = this.ready([...beside, pool]);
    this.nodes = nodes;
    this.phase = phase;
    this.counts = counts;
    this.registerOutputs({ nodes, phase, counts });
  }

  /** Returns an object that the pool refers to. Cluster API sets its owner, and the pool waits for its status. */
  private object(role: "bootstrap" | "infrastructure", object: PoolObjectArgs): Adoption[] {
    const { kubeconfig, api, namespace, adopt, takeOver, timeouts } = this.args;
    const { apiVersion, kind, name = this.poolName, labels = {}, annotations = {}, spec } = object;
    if (spec === undefined) return [];
    return [
      new Adoption(
        `${this.poolName}-${role}`,
        {
          kubeconfig,
          object: { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec },
          adopt,
          takeOver,
          // Cluster API sets it
          controller: { apiVersion: `cluster.x-k8s.io/${api}`, kind: "MachinePool", name: this.poolName },
          dryRun: true,
          installedBy: `the ${role} provider of this kind (clusterctl init)`,
          timeoutSeconds: timeouts.deletionSeconds,
        },
        { parent: this },
      ),
    ];
  }

  private pool(dependsOn: pulumi.Resource[]): Adoption {
    const { kubeconfig, api, bootstrap, infrastructure, adopt, takeOver, timeouts } = this.args;
    return new Adoption(
      this.poolName,
      {
        kubeconfig,
        object: machinePoolManifest({
          ...this.args,
          name: this.poolName,
          bootstrap: "config" in bootstrap ? { configRef: this.reference(bootstrap.config) } : bootstrap,
          infrastructureRef: this.reference(infrastructure),
        }),
        adopt,
        takeOver,
        ...(isScaledByOthers(this.args) ? { leave: ["spec.replicas"] } : {}),
        dryRun: true,
        installedBy: INSTALLED_BY[api],
        timeoutSeconds: timeouts.deletionSeconds,
      },
      { parent: this, dependsOn },
    );
  }

  private ready(dependsOn: pulumi.Resource[]): MachinePoolReady {
    const { kubeconfig, workloadKubeconfig, api, namespace, cluster, replicas, version } = this.args;
    const { bootstrap, infrastructure, timeouts } = this.args;
    const { kind, name } = this.reference(infrastructure);
    return new MachinePoolReady(
      `${this.poolName}-ready`,
      {
        kubeconfig,
        ...(workloadKubeconfig === undefined ? {} : { workloadKubeconfig }),
        apiVersion: `cluster.x-k8s.io/${api}`,
        namespace,
        name: this.poolName,
        cluster,
        ...(isScaledByOthers(this.args) ? {} : { replicas }),
        ...(version === undefined ? {} : { version }),
        template: {
          infrastructure: `${kind} ${name}`,
          rest: { bootstrap, infrastructure: infrastructure.spec ?? {} },
        },
        ...(infrastructure.inPlaceFields?.length ? { inPlaceFields: infrastructure.inPlaceFields } : {}),
        timeouts: {
          bootstrap: timeouts.bootstrapSeconds,
          infrastructure: timeouts.infrastructureSeconds,
          nodes: timeouts.nodesSeconds,
        },
      },
      { parent: this, dependsOn },
    );
  }

  private reference({ apiVersion, kind, name = this.poolName }: PoolObjectArgs): PoolReference {
    return { apiVersion, kind, name };
  }
}
