import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import {
  isScaledByOthers,
  machinePoolManifest,
  type PoolReference,
  type PoolSpecification,
} from "../../providers/machine-pool/plan/manifest";
import type { Counts } from "../../providers/machine-pool/plan/observed";
import { MachinePoolReady } from "../../providers/machine-pool/resources/machine-pool-ready";
import type { PoolNode } from "../../providers/machine-pool/resources/machine-pool-ready";
import { kubernetesProviderIssues, refuseArguments } from "../../lib/pulumi/arguments";
import { Adoption } from "../adoption";
import { lifted } from "../arguments";
import { checkedPool, type MachinePoolArguments, type MachinePoolArgs } from "./machine-pool-args";

type Arguments = z.output<typeof MachinePoolArguments>;
type PoolObject = NonNullable<Arguments["bootstrap"]["config"]>;

const INSTALLED_BY = {
  v1beta1: "Cluster API by clusterctl init (or write api: v1beta2, if it serves that)",
  v1beta2: "Cluster API 1.11 or newer (or write api: v1beta1)",
};

/** A MachinePool of Cluster API with the objects that it refers to; waits until every node is Ready. */
export class MachinePool extends pulumi.ComponentResource {
  readonly nodes: pulumi.Output<PoolNode[]>;
  readonly phase: pulumi.Output<string>;
  readonly counts: pulumi.Output<Counts>;

  private readonly args: Arguments;

  constructor(
    private readonly resourceName: string,
    private readonly given: MachinePoolArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    refuseArguments(`MachinePool ${resourceName}`, kubernetesProviderIssues(opts));
    const args = checkedPool(resourceName, given);
    super("foresail:machine-pool:MachinePool", resourceName, {}, opts);
    this.args = args;
    const beside = [
      ...this.object("bootstrap", args.bootstrap.config),
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
  private object(role: "bootstrap" | "infrastructure", object?: PoolObject): Adoption[] {
    const { kubeconfig, api, namespace, adopt, takeOver, timeouts } = this.args;
    if (object?.spec === undefined) return [];
    const { apiVersion, kind, name = this.args.name, labels, annotations, spec } = object;
    return [
      new Adoption(
        `${this.resourceName}-${role}`,
        {
          kubeconfig,
          object: { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec },
          adopt,
          takeOver,
          // Cluster API sets it
          controller: { apiVersion: `cluster.x-k8s.io/${api}`, kind: "MachinePool", name: this.args.name },
          dryRun: true,
          installedBy: `the ${role} provider of this kind (clusterctl init)`,
          timeoutSeconds: timeouts.deletionSeconds,
        },
        { parent: this },
      ),
    ];
  }

  private pool(dependsOn: pulumi.Resource[]): Adoption {
    // with the kubeconfigs, or a secret of a specification beside it, the whole object would be secret in state
    const { kubeconfig, workloadKubeconfig: _, bootstrap, infrastructure, ...manifest } = this.args;
    const { api, adopt, takeOver, timeouts } = manifest;
    const { config, dataSecretName } = bootstrap;
    return new Adoption(
      this.resourceName,
      {
        kubeconfig,
        object: lifted(
          {
            ...manifest,
            bootstrap: config ? { configRef: this.reference(config) } : { dataSecretName },
            infrastructureRef: this.reference(infrastructure),
          } as PoolSpecification,
          machinePoolManifest,
        ),
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
    const { infrastructure, timeouts } = this.args;
    const { bootstrap } = this.given;
    const { kind, name } = this.reference(infrastructure);
    return new MachinePoolReady(
      `${this.resourceName}-ready`,
      {
        kubeconfig,
        ...(workloadKubeconfig === undefined ? {} : { workloadKubeconfig }),
        apiVersion: `cluster.x-k8s.io/${api}`,
        namespace,
        name: this.args.name,
        cluster,
        ...(isScaledByOthers(this.args) ? {} : { replicas }),
        ...(version === undefined ? {} : { version }),
        template: {
          infrastructure: pulumi.interpolate`${kind} ${name}`,
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

  private reference({ apiVersion, kind, name = this.args.name }: PoolObject): PoolReference {
    return { apiVersion, kind, name };
  }
}
