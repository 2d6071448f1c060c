import { networkOf } from "../../providers/kubeadm/plan/defaults";
import * as pulumi from "@pulumi/pulumi";
import { whenMade } from "../../lib/pulumi/left-out";
import { connectionBlocks } from "../../providers/tumblebug/plan/address-blocks";
import { wantedSlots, type Slot } from "../../providers/tumblebug/plan/groups";
import { planBatch, type MachineBatch } from "../../providers/tumblebug/plan/machine-batch";
import type { MachineVm } from "../../providers/tumblebug/plan/model";
import {
  machinesResource,
  planResource,
  recordedCluster,
  type RecordedCluster,
} from "../../providers/tumblebug/plan/recorded-state";
import type { DesiredSecurity } from "../../providers/tumblebug/plan/security-rules";
import type { ServerInputs } from "../../providers/tumblebug/resources/server";
import { TumblebugMcis } from "../../providers/tumblebug/resources/machines";
import { TumblebugNamespace } from "../../providers/tumblebug/resources/objects";
import { TumblebugPlan } from "../../providers/tumblebug/resources/plan";
import type { StateResources } from "../../lib/pulumi/state";
import { podNetworkKind } from "../kubeadm/defaults";
import { makeObjects, objectNames, type MadeObjects } from "./connection-objects";
import type { TumblebugClusterArgs } from "./tumblebug-cluster-args";

/** Arguments of the machines; of the cluster on them, only the pod network is used. */
export type TumblebugMachinesArgs = Omit<TumblebugClusterArgs, "cluster"> & {
  cluster: Pick<TumblebugClusterArgs["cluster"], "network">;
  /** The stack's state at the start of the run. */
  existing: StateResources;
};

/** The VMs of a cluster, in one or several clouds, with all objects that they are created from. */
export class TumblebugMachines extends pulumi.ComponentResource {
  /** The machines of this run, and the remaining runs. */
  readonly turn: MachineBatch;
  readonly recorded: RecordedCluster;
  /** Name of the MCIS, or infra. */
  readonly infrastructure: string;
  readonly plan: TumblebugPlan;
  readonly mcis: TumblebugMcis;
  readonly server: pulumi.Output<ServerInputs>;
  /** Connection → private SSH key for its machines. Secret. */
  readonly privateKeys: MadeObjects["privateKeys"];

  private readonly blocks: Map<string, string>;
  private readonly prefix: string;
  private readonly child: pulumi.CustomResourceOptions & { parent: pulumi.Resource };

  constructor(
    private readonly clusterName: string,
    private readonly args: TumblebugMachinesArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("foresail:tumblebug:TumblebugMachines", clusterName, {}, opts);
    this.recorded = recordedCluster(clusterName, args.existing);
    this.turn = planBatch(wantedSlots(args.groups, args.replace), this.recorded, args.lost ?? []);
    this.blocks = connectionBlocks(args.networkCidr, args.connections);
    this.infrastructure = args.infrastructure ?? clusterName;
    this.prefix = args.resources.prefix ?? clusterName;
    const { credentials, generation = "auto", caBundle, ...server } = args.server;
    const asked = {
      ...server,
      ...(caBundle === undefined ? {} : { caCertificates: caBundle }),
      ...(credentials === undefined ? {} : { credentials }),
    };

    this.plan = this.checkServer(pulumi.output({ ...asked, generation }));
    const found = whenMade(this.plan.found, (answer) => answer.generation);
    this.server = pulumi.output({ ...asked, generation: found });
    this.child = { parent: this, dependsOn: [this.plan, ...this.makeNamespace()] };
    const { namespace, user } = args;
    const { common, prefix, plan, connections, slots } = this;
    const { goneRules } = this.recorded;
    const objects = makeObjects(
      { common, namespace, prefix, plan, user, connections, slots, goneRules, security: this.security() },
      this.child,
    );
    this.privateKeys = objects.privateKeys;
    this.mcis = this.makeMachines(objects);
    this.registerOutputs({ vms: this.mcis.vms });
  }

  get slots(): Slot[] {
    return this.turn.slots;
  }

  /** Returns a machine's VM. The VM of an unchanged machine is known even in a preview that adds others. */
  vmOf(machine: string): pulumi.Output<MachineVm> {
    return whenMade(this.mcis.known, (known) => {
      const kept = known[machine];
      return kept ? pulumi.output(kept) : whenMade(this.mcis.vms, (vms) => vms[machine] as MachineVm);
    });
  }

  /** Returns machine name → name of its VM. */
  vmNames(slots: readonly Slot[]): pulumi.Output<Record<string, string>> {
    const named = slots.map(({ machine }) => [machine, this.vmOf(machine).vm] as const);
    return pulumi.output(Object.fromEntries(named));
  }

  /** Returns the connections that have machines; the others need no objects. */
  private get connections() {
    return this.args.connections
      .filter(({ name }) => this.slots.some(({ connection }) => connection === name))
      .map(({ name, cidr }) => ({
        name,
        cidr: cidr ?? this.blocks.get(name) ?? "",
        cidrWritten: cidr !== undefined,
      }));
  }

  private checkServer(server: pulumi.Output<ServerInputs>): TumblebugPlan {
    const { namespace, createNamespace = false, endpoint, allowMock = false } = this.args;
    const names = objectNames(
      { namespace, prefix: this.prefix, slots: this.slots },
      this.connections.map(({ name }) => name),
    );
    const { infrastructure, slots } = this;
    return new TumblebugPlan(
      planResource(this.clusterName),
      {
        ...{ server, namespace, createNamespace, infrastructure, slots, allowMock, objects: names },
        connections: this.connections.map(({ name, cidr }) => ({
          name,
          cidr,
          vNet: names.vNets.find(({ connection }) => connection === name)?.name ?? "",
        })),
        loadBalancer: endpoint !== undefined && "nlb" in endpoint,
        ...this.describeTurn(),
        ...(this.recorded.mark === undefined ? {} : { mark: this.recorded.mark }),
      },
      { parent: this },
    );
  }

  /** Returns the batch for TumblebugPlan. Refuses to remove a connection that still has machines. */
  private describeTurn() {
    const { steps, later, leaving, remarks, slots } = this.turn;
    const named = this.args.connections.map(({ name }) => name);
    const refusals = slots
      .filter(({ connection }) => !named.includes(connection))
      .map(({ machine, connection }) => ({
        property: "tumblebug.connections",
        reason: `${machine} is in "${connection}"; list that connection until the machine is gone`,
      }));
    return { steps, later, leaving, remarks, ...(refusals.length === 0 ? {} : { refusals }) };
  }

  private makeNamespace(): TumblebugNamespace[] {
    const { namespace: name, createNamespace } = this.args;
    if (!createNamespace) return [];
    const { namespace: _, ...common } = this.common;
    const foreign = whenMade(this.plan.found, ({ namespaceIsForeign }) => namespaceIsForeign);
    const args = { ...common, name, foreign };
    const opts = { parent: this, dependsOn: [this.plan] };
    return [new TumblebugNamespace(`${this.clusterName}-namespace`, args, opts)];
  }

  private security(): DesiredSecurity {
    const { access, nodeAddresses, sshPort, cluster } = this.args;
    const overInternet = nodeAddresses === "public";
    return {
      ssh: access.ssh,
      ...(sshPort === undefined ? {} : { sshPort }),
      api: access.api,
      nodePorts: access.nodePorts,
      nodes: overInternet ? access.nodes : [...this.connections.map(({ cidr }) => cidr), ...access.nodes],
      pods: networkOf(cluster.network).podSubnet,
      podNetwork: podNetworkKind(cluster),
      overInternet,
    };
  }

  private makeMachines({ objects, specs, images }: MadeObjects): TumblebugMcis {
    const { user, timeouts } = this.args;
    const timeoutSeconds = timeouts.machinesSeconds;
    const { vms, leaving } = this.recorded;
    const { keepOnDelete: _, ...common } = this.common;
    const { infrastructure, slots } = this;
    const recorded = { vms, leaving };
    return new TumblebugMcis(
      machinesResource(this.clusterName),
      { ...common, infrastructure, slots, objects, specs, images, user, timeoutSeconds, recorded },
      { ...this.child, customTimeouts: longEnough(timeoutSeconds) },
    );
  }

  /** Arguments of every object. */
  private get common() {
    const { namespace, resources } = this.args;
    const mark = this.recorded.mark ?? this.plan.mark;
    return { server: this.server, namespace, mark, keepOnDelete: resources.keepOnDelete };
  }
}

/** Returns engine timeouts longer than the handlers' own deadlines, whose errors say what a handler waited for. */
export function longEnough(seconds: number) {
  const most = `${2 * seconds + 600}s`;
  return { create: most, update: most, delete: most };
}
