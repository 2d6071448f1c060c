import { isDesired } from "../../providers/tumblebug/plan/validation";
import { API_SERVER_PORT } from "../../lib/validation/ports";
import { controlPlanesOf } from "../../providers/kubeadm/plan/cluster/machine";
import * as pulumi from "@pulumi/pulumi";
import { whenMade } from "../../lib/pulumi/left-out";
import { nodeGroupOf, type Slot } from "../../providers/tumblebug/plan/groups";
import { topologyLabels } from "../../providers/tumblebug/plan/requirements";
import type { MachineVm } from "../../providers/tumblebug/plan/model";
import {
  PROVISIONED,
  recordedCluster,
  recordedStatus,
  type ClusterStatus,
} from "../../providers/tumblebug/plan/recorded-state";
import type { StateResources } from "../../lib/pulumi/state";
import type { NodeOutput } from "../../providers/kubeadm/resources/declarations";
import { TumblebugLoadBalancer, TumblebugVm } from "../../providers/tumblebug/resources/declarations";
import { readStoppedMachines } from "../../providers/tumblebug/resources/stopped-machines";
import { KubeadmCluster } from "../kubeadm/kubeadm-cluster";
import { endpointIn } from "../kubeadm/endpoint";
import type { MachineArgs } from "../kubeadm/kubeadm-cluster-args";
import { ComponentWithState } from "../../lib/pulumi/stack";
import { fitNetwork } from "./pod-network";
import { type CheckedTumblebug, checkedTumblebug, type TumblebugClusterArgs } from "./tumblebug-cluster-args";
import { longEnough, TumblebugMachines } from "./tumblebug-machines";
import { apiBalancerResource } from "../../providers/kubeadm/plan/cluster/resource-names";

/** Where the nodes reach the control planes' cloud load balancer. */
interface Balancer {
  host: pulumi.Output<string>;
  port: number;
}

/** What the component creates. */
interface Parts {
  machines: TumblebugMachines;
  cluster: KubeadmCluster;
}

/**
 * A kubeadm cluster on VMs in one or several clouds, created by a CB-Tumblebug server, with all objects that they
 * need there. A surplus machine leaves the cluster before its VM is deleted. One update removes at most one control
 * plane; the `remaining` output lists the removals for later updates. The component reads the stack's state to know
 * which machines exist.
 */
export class TumblebugCluster extends ComponentWithState<Parts> {
  /** Administrator's kubeconfig. Secret. */
  readonly kubeconfig: pulumi.Output<string>;
  readonly endpoints: KubeadmCluster["endpoints"];
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Kubernetes version of the cluster, MAJOR.MINOR.PATCH. */
  readonly version: pulumi.Output<string>;
  /** When the first certificate ends that kubeadm renews, by control plane; empty until node agents report it. */
  readonly certificatesExpire: pulumi.Output<Record<string, string>>;
  /** Machine name → its VM. */
  readonly vms: pulumi.Output<Record<string, MachineVm>>;
  /** Remaining removals of control planes, for later updates; empty when there are none. */
  readonly remaining: pulumi.Output<string[]>;
  /** Phase (Pending, Provisioning, Provisioned or Failed) with reason and message. */
  readonly status: pulumi.Output<ClusterStatus>;

  private machines!: TumblebugMachines;

  private readonly args: CheckedTumblebug;

  constructor(
    private readonly clusterName: string,
    given: TumblebugClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    // the base class calls `make` even if this constructor throws later
    const args = checkedTumblebug(clusterName, given);
    super("foresail:tumblebug:TumblebugCluster", clusterName, {}, opts);
    this.args = args;
    this.kubeconfig = this.part(({ cluster }) => cluster.kubeconfig);
    this.endpoints = this.part(({ cluster }) => cluster.endpoints);
    this.nodes = this.part(({ cluster }) => cluster.nodes);
    this.version = this.part(({ cluster }) => cluster.version);
    this.certificatesExpire = this.part(({ cluster }) => cluster.certificatesExpire);
    this.vms = this.part(({ machines }) => machines.mcis.vms);
    this.remaining = this.part(({ machines }) => machines.turn.later);
    this.status = this.part(({ cluster }) => this.describeStatus(cluster));
    const { kubeconfig, endpoints, nodes, version, vms, remaining, status } = this;
    this.registerOutputs({ kubeconfig, endpoints, nodes, version, vms, remaining, status });
  }

  protected override async make(existing: StateResources): Promise<Parts> {
    const { server, namespace, infrastructure = this.clusterName, groups } = this.args;
    const recorded = recordedCluster(this.clusterName, existing);
    const asked = await readStoppedMachines({ server, namespace, infrastructure }, groups, recorded);
    const args = { ...this.args, existing, asked };
    this.machines = new TumblebugMachines(this.clusterName, args, { parent: this });
    return { machines: this.machines, cluster: this.makeCluster(existing, this.makeLoadBalancer()) };
  }

  private makeLoadBalancer(): Balancer | undefined {
    const { endpoint, namespace, timeouts } = this.args;
    const { server, infrastructure, recorded, mcis } = this.machines;
    const planes = controlPlanesOf(this.machines.slots);
    const [first] = planes;
    if (!("nlb" in endpoint) || !first) return undefined;
    const { port } = endpoint.nlb;
    const { endpoint: host } = new TumblebugLoadBalancer(
      apiBalancerResource(this.clusterName),
      {
        server,
        namespace,
        infrastructure,
        group: first.vmGroup,
        port,
        targetPort: API_SERVER_PORT,
        machines: planes.map(({ machine }) => machine),
        vms: this.machines.vmNames(planes),
        recorded: recorded.balancerAddress,
        timeoutSeconds: timeouts.machinesSeconds,
      },
      { parent: this, dependsOn: [mcis] },
    );
    return { host, port };
  }

  private makeCluster(existing: StateResources, balancer?: Balancer): KubeadmCluster {
    const { cluster, endpoint, nodeAddresses } = this.args;
    const { slots, turn } = this.machines;
    // the plan refuses those that the run keeps
    const listed = this.args.lost.filter((name) => !isDesired(name, slots));
    const lost = [...new Set([...listed, ...turn.undrained])];
    const own = "nlb" in endpoint ? undefined : endpoint;
    const machines = this.machines.slots.map((slot) => this.machine(slot));
    return new KubeadmCluster(
      this.clusterName,
      {
        ...fitNetwork(cluster, nodeAddresses),
        machines,
        ...(balancer
          ? {
              endpoint: { external: balancer },
              loadBalancer: pulumi.interpolate`${balancer.host}:${balancer.port}`,
            }
          : { endpoint: endpointIn(existing, this.clusterName, machines, own) }),
        certificateNames: [...(cluster.certificateNames ?? []), ...(balancer ? [balancer.host] : [])],
        // Surplus control planes are removed one per run, so their number may be even for a while.
        allowEvenControlPlanes: true,
        lost,
        provided: true,
        leavingLater: this.machines.turn.leavingLater,
      },
      { parent: this },
    );
  }

  private machine(slot: Slot): MachineArgs {
    const { machine: name, role, connection } = slot;
    const { nodeAddresses, sshPort } = this.args;
    const group = this.args.groups.find((one) => one.name === slot.group);
    const vm = this.machines.vmOf(name);
    const privateKey = this.machines.privateKeys[connection];
    const held = this.hold(name, vm.vm);
    // Depends on TumblebugVm, so that resources that use the address are deleted before the VM.
    const address = pulumi.all([vm.publicAddress, held.vm]).apply(([known]) => known);
    const { user } = vm;
    const internalAddress =
      nodeAddresses === "public"
        ? address
        : whenMade(vm, ({ privateAddress, publicAddress }) => privateAddress || publicAddress);
    return {
      name,
      role,
      ...(role === "worker" && group ? { pool: nodeGroupOf(group) } : {}),
      address,
      port: sshPort ?? vm.sshPort,
      user,
      ...(privateKey ? { privateKey } : {}),
      internalAddress,
      // No certificate contains the public address.
      ...(role === "control-plane" && nodeAddresses === "private" ? { certificateName: "kubernetes" } : {}),
      labels: whenMade(this.machines.plan.found, ({ connections }) => {
        const at = connections[connection];
        return { ...(at ? topologyLabels(at) : {}), ...group?.labels };
      }),
      taints: group?.taints ?? [],
    };
  }

  private hold(machine: string, vm: pulumi.Output<string>): TumblebugVm {
    const { namespace, timeouts } = this.args;
    const timeoutSeconds = timeouts.machinesSeconds;
    const { server, infrastructure, mcis } = this.machines;
    return new TumblebugVm(
      `${this.clusterName}-${machine}-vm`,
      { server, namespace, infrastructure, machine, vm, timeoutSeconds },
      { parent: this, dependsOn: [mcis], deletedWith: mcis, customTimeouts: longEnough(timeoutSeconds) },
    );
  }

  /** Returns the recorded status in a preview, and Provisioned after a completed run. */
  private describeStatus(cluster: KubeadmCluster): pulumi.Output<ClusterStatus> {
    const { endpoint } = this.args;
    const hasBalancer = "nlb" in endpoint;
    if (pulumi.runtime.isDryRun()) return pulumi.output(recordedStatus(this.machines.recorded, hasBalancer));
    return pulumi.all([cluster.version, cluster.nodes]).apply(() => PROVISIONED);
  }
}
