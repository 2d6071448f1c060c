import { networkOf } from "../../providers/kubeadm/plan/cluster/defaults";
import * as pulumi from "@pulumi/pulumi";
import { warn } from "../../lib/pulumi/log";
import { whenMade } from "../../lib/pulumi/left-out";
import type { DeepInput } from "../../lib/pulumi/dynamic-resource";
import { connectionBlocks } from "../../providers/tumblebug/plan/address-blocks";
import { slotOf, wantedSlots, type Slot } from "../../providers/tumblebug/plan/groups";
import { planBatch, type SlotBatch } from "../../providers/tumblebug/plan/machine-batch";
import type { MachineVm } from "../../providers/tumblebug/plan/model";
import { pausedRefusals } from "../../providers/kubeadm/plan/validation/rollout";
import { desiredLostRefusals } from "../../providers/tumblebug/plan/validation";
import { connectionNames, registeredName, type ConnectionNames } from "../../providers/tumblebug/plan/names";
import {
  machinesResource,
  planResource,
  recordedCluster,
  type RecordedCluster,
} from "../../providers/tumblebug/plan/recorded-state";
import { factKey } from "../../providers/tumblebug/plan/requirements";
import { securityRules } from "../../providers/tumblebug/plan/security-rules";
import type { ServerInputs } from "../../providers/tumblebug/resources/server";
import {
  TumblebugImage,
  TumblebugMcis,
  TumblebugNamespace,
  TumblebugPlan,
  TumblebugSecurityGroup,
  TumblebugSpec,
  TumblebugSshKey,
  TumblebugVNet,
  type ConnectionObjects,
  type TumblebugPlanInputs,
} from "../../providers/tumblebug/resources/declarations";
import type { StoppedMachines } from "../../providers/kubeadm/plan/machines/stopped";
import { ownStack } from "../../lib/pulumi/stack";
import type { StateResources } from "../../lib/pulumi/state";
import { unknownSlotRefusals } from "../../providers/kubeadm/plan/validation/replaced-machines";
import { isPlainHttpToOtherHost } from "../../lib/validation/urls";
import { podNetworkKind } from "../kubeadm/defaults";
import type { CheckedTumblebug } from "./tumblebug-cluster-args";

/** Arguments of the machines; of the cluster on them, only the pod network is used. */
export type TumblebugMachinesArgs = Omit<CheckedTumblebug, "cluster"> & {
  cluster: Pick<CheckedTumblebug["cluster"], "network" | "rollout">;
  /** The stack's state at the start of the run. */
  existing: StateResources;
  /** The machines of the state whose VMs do not run, if this run removes machines. @default none */
  asked?: StoppedMachines;
};

/** The VMs of a cluster, in one or several clouds, with all objects that they are created from. */
export class TumblebugMachines extends pulumi.ComponentResource {
  /** The machines of this run, and the remaining runs. */
  readonly turn: SlotBatch;
  readonly recorded: RecordedCluster;
  /** Name of the MCIS, or infra. */
  readonly infrastructure: string;
  readonly plan: TumblebugPlan;
  readonly mcis: TumblebugMcis;
  readonly server: pulumi.Output<ServerInputs>;
  /** Connection → private SSH key for its machines. Secret. */
  readonly privateKeys: Record<string, pulumi.Output<string>> = {};

  private readonly prefix: string;
  /** The connections that have machines; the others need no objects. */
  private readonly connections: { name: string; cidr: string; cidrWritten: boolean }[];
  private readonly child: pulumi.CustomResourceOptions & { parent: pulumi.Resource };

  constructor(
    private readonly clusterName: string,
    private readonly args: TumblebugMachinesArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("foresail:tumblebug:TumblebugMachines", clusterName, {}, opts);
    this.recorded = recordedCluster(clusterName, args.existing);
    const { stopped = {} } = args.asked ?? {};
    const { lost = [] } = args;
    const wanted = wantedSlots(
      args.groups,
      args.replace,
      this.recorded.slots,
      (name) => Object.hasOwn(stopped, name) || lost.includes(name),
    );
    this.turn = planBatch(wanted, this.recorded, lost, stopped);
    this.infrastructure = args.infrastructure ?? clusterName;
    this.prefix = args.resources.prefix ?? clusterName;
    const blocks = connectionBlocks(args.network.cidr, args.connections);
    this.connections = args.connections
      .filter(({ name }) => this.slots.some(({ connection }) => connection === name))
      .map(({ name, cidr }) => ({
        name,
        cidr: cidr ?? blocks.get(name) ?? "",
        cidrWritten: cidr !== undefined,
      }));
    const { address, credentials, generation = "auto", caBundle, allowHttp } = args.server;
    if (allowHttp && isPlainHttpToOtherHost(address) && pulumi.runtime.isDryRun())
      void warn(`${address}: the credentials are sent over plain http (allowHttp is on)`, this);
    const asked = {
      address,
      ...(caBundle === undefined ? {} : { caCertificates: caBundle }),
      ...(credentials === undefined ? {} : { credentials }),
    };

    this.plan = this.checkServer(pulumi.output({ ...asked, generation }));
    const found = whenMade(this.plan.found, (answer) => answer.generation);
    this.server = pulumi.output({ ...asked, generation: found });
    this.child = { parent: this, dependsOn: [this.plan, ...this.makeNamespace()] };
    const objects = this.makeObjects();
    const specs = this.register("spec");
    this.mcis = this.makeMachines(objects, specs, this.register("image"));
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

  vmNames(slots: readonly Slot[]): pulumi.Output<Record<string, string>> {
    const named = slots.map(({ machine }) => [machine, this.vmOf(machine).vm] as const);
    return pulumi.output(Object.fromEntries(named));
  }

  private checkServer(server: pulumi.Output<ServerInputs>): TumblebugPlan {
    const { namespace, createNamespace = false, endpoint, allowMock = false } = this.args;
    const { infrastructure, slots } = this;
    return new TumblebugPlan(
      planResource(this.clusterName),
      {
        server,
        namespace,
        createNamespace,
        infrastructure,
        slots,
        allowMock,
        connections: this.connections.map(({ name, cidr }) => ({
          name,
          cidr,
          vNet: this.namesIn(name).vNet,
        })),
        objects: this.objectNames(),
        loadBalancer: endpoint !== undefined && "nlb" in endpoint,
        ...this.describeTurn(),
        // left out when there are none, so that stacks of earlier releases keep their inputs
        ...(this.recorded.unrecorded.length === 0 ? {} : { unrecorded: this.recorded.unrecorded }),
        ...(this.recorded.mark === undefined ? {} : { mark: this.recorded.mark }),
      },
      { parent: this },
    );
  }

  /**
   * Returns the batch for TumblebugPlan. Refuses plain http, groups without one odd number of control planes, and to
   * remove a connection that still has machines.
   */
  private describeTurn() {
    const { steps, later, leaving, remarks, slots } = this.turn;
    const named = this.args.connections.map(({ name }) => name);
    const refusals = slots
      .filter(({ connection }) => !named.includes(connection))
      .map(({ machine, connection }) => ({
        property: "tumblebug.connections",
        reason: `${machine} is in "${connection}"; list that connection until the machine is gone`,
      }));
    refusals.push(
      ...(this.args.asked?.refusals ?? []),
      ...this.unknownReplacements(),
      ...desiredLostRefusals(this.args.lost, this.slots),
      ...this.unknownPaused(),
    );
    return { steps, later, leaving, remarks, ...(refusals.length === 0 ? {} : { refusals }) };
  }

  private unknownPaused() {
    const slots = this.slots.map(({ machine }) => slotOf(machine));
    return pausedRefusals(this.args.cluster.rollout.pausedNodes, slots, slotOf);
  }

  /** A group that became smaller may have kept any of its slots. */
  private unknownReplacements() {
    const slots = new Set(this.slots.map(({ machine }) => slotOf(machine)));
    return unknownSlotRefusals("tumblebug", Object.keys(this.args.replace), [...slots]);
  }

  /** Returns the names of all objects that VMs are created from, for TumblebugPlan to look up. */
  private objectNames(): TumblebugPlanInputs["objects"] {
    const of = (pick: (names: ConnectionNames, connection: string) => string[]) =>
      this.connections.flatMap(({ name: connection }) =>
        pick(this.namesIn(connection), connection).map((name) => ({ name, connection })),
      );
    return {
      vNets: of(({ vNet }) => [vNet]),
      securityGroups: of(({ nodes, controlPlanes }, connection) =>
        this.hasControlPlanes(connection) ? [nodes, controlPlanes] : [nodes],
      ),
      sshKeys: of(({ sshKey }) => [sshKey]),
      images: this.distinct("image").map(({ value: cloudImage, ...image }) => ({ ...image, cloudImage })),
      specs: this.distinct("spec").map(({ name, connection }) => ({ name, connection })),
    };
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

  /** Creates the objects of each connection. Returns them by connection, with the server's names. */
  private makeObjects(): Record<string, DeepInput<ConnectionObjects>> {
    const security = this.security();
    const made = this.connections.map(({ name: connection, cidr, cidrWritten }) => {
      const names = this.namesIn(connection);
      const block = { cidr, cidrWritten, subnet: names.subnet };
      const vNetArgs = { ...this.object("vNets", names.vNet, connection), ...block };
      const vNet = new TumblebugVNet(names.vNet, vNetArgs, this.child);
      const group = (role: "nodes" | "controlPlanes") => {
        const name = names[role];
        const rules = { rules: securityRules(role, security), gone: this.recorded.goneRules[name] };
        const provider = whenMade(this.plan.found, ({ connections }) => connections[connection]?.provider);
        const common = this.object("securityGroups", name, connection);
        const args = { ...common, provider, vNet: vNet.object, ...rules };
        return new TumblebugSecurityGroup(name, args, this.child).object;
      };
      const keyArgs = { ...this.object("sshKeys", names.sshKey, connection), user: this.args.user };
      const key = new TumblebugSshKey(names.sshKey, keyArgs, this.child);
      this.privateKeys[connection] = key.privateKey;
      const objects = {
        vNet: vNet.object,
        subnet: vNet.subnet,
        nodes: group("nodes"),
        ...(this.hasControlPlanes(connection) ? { controlPlanes: group("controlPlanes") } : {}),
        sshKey: key.object,
      };
      return [connection, objects] as const;
    });
    return Object.fromEntries(made);
  }

  /** Registers machine types or images. Returns the server's names by connection and value. */
  private register(field: "spec" | "image"): Record<string, pulumi.Output<string>> {
    const made = this.distinct(field).map(({ name, connection, value }) => {
      const args = this.object(`${field}s`, name, connection);
      const { object } =
        field === "spec"
          ? new TumblebugSpec(name, { ...args, cloudSpec: value }, this.child)
          : new TumblebugImage(name, { ...args, cloudImage: value }, this.child);
      return [factKey(connection, value), object] as const;
    });
    return Object.fromEntries(made);
  }

  private makeMachines(
    objects: Record<string, DeepInput<ConnectionObjects>>,
    specs: Record<string, pulumi.Output<string>>,
    images: Record<string, pulumi.Output<string>>,
  ): TumblebugMcis {
    const { user, timeouts } = this.args;
    const timeoutSeconds = timeouts.machinesSeconds;
    const { vms, leaving, held, planned, unused } = this.recorded;
    const { keepOnDelete: _, ...common } = this.common;
    const { infrastructure, slots } = this;
    const recorded = { vms, leaving, held, planned, unused };
    return new TumblebugMcis(
      machinesResource(this.clusterName),
      {
        ...common,
        infrastructure,
        slots,
        objects,
        specs,
        images,
        user,
        timeoutSeconds,
        recorded,
        stack: ownStack(),
      },
      { ...this.child, customTimeouts: longEnough(timeoutSeconds) },
    );
  }

  private security() {
    const { access, nodeAddresses, sshPort, cluster } = this.args;
    const overInternet = nodeAddresses === "public";
    const { ssh, api, nodePorts } = access;
    return {
      ssh,
      api,
      nodePorts,
      overInternet,
      ...(sshPort === undefined ? {} : { sshPort }),
      nodes: overInternet ? access.nodes : [...this.connections.map(({ cidr }) => cidr), ...access.nodes],
      pods: networkOf(cluster.network).podSubnet,
      podNetwork: podNetworkKind(cluster),
    };
  }

  private hasControlPlanes(name: string): boolean {
    return this.slots.some(({ connection, role }) => connection === name && role === "control-plane");
  }

  private namesIn(connection: string): ConnectionNames {
    return connectionNames(this.args.namespace, this.prefix, connection);
  }

  /** Returns the distinct machine types or images per connection, with the names of their objects. */
  private distinct(field: "spec" | "image") {
    const all = this.slots.map(({ connection, [field]: value }) => {
      const name = registeredName(field, this.args.namespace, this.prefix, connection, value);
      return [factKey(connection, value), { name, connection, value }] as const;
    });
    return [...new Map(all).values()];
  }

  /** Returns the arguments that objects of all kinds have. */
  private object(kind: string, name: string, connection: string) {
    const foreign = whenMade(this.plan.found, (found) => found.foreign.includes(`${kind}/${name}`));
    return { ...this.common, name, connection, foreign };
  }

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
