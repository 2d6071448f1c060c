import * as pulumi from "@pulumi/pulumi";
import { connectionBlocks } from "../../core/tumblebug/address-blocks";
import { nodeGroupOf, wantedSlots, type Slot } from "../../core/tumblebug/groups";
import { topologyLabels } from "../../core/tumblebug/labels";
import type { MachineVm } from "../../core/tumblebug/machine-vm";
import { provisioned, recordedStatus, type ClusterStatus } from "../../core/tumblebug/phase";
import { recordedCluster, type RecordedCluster } from "../../core/tumblebug/recorded-state";
import type { SecurityWish } from "../../core/tumblebug/security-rules";
import type { NodeOutput } from "../../providers/kubeadm/node-group";
import { TumblebugLoadBalancer } from "../../providers/tumblebug/tumblebug-load-balancer";
import { TumblebugMcis } from "../../providers/tumblebug/tumblebug-mcis";
import { TumblebugNamespace } from "../../providers/tumblebug/tumblebug-namespace";
import { TumblebugPlan } from "../../providers/tumblebug/tumblebug-plan";
import { TumblebugVmRemoval } from "../../providers/tumblebug/tumblebug-vm-removal";
import { podNetworkKind } from "../kubeadm/defaults";
import { KubeadmCluster } from "../kubeadm/kubeadm-cluster";
import type { EndpointArgs, MachineArgs } from "../kubeadm/kubeadm-cluster-args";
import { makeObjects, objectNames, type MadeObjects } from "./connection-objects";
import { fitNetwork } from "./pod-network";
import type { TumblebugClusterArgs } from "./tumblebug-cluster-args";

/** Port of the API on the control planes. */
const API_PORT = 6443;

/** How every resource reaches the server. */
type ServerInput = pulumi.Output<object>;

/**
 * A kubeadm cluster on VMs of one or several clouds, made by a CB-Tumblebug server, with everything that they need
 * there. A machine that is no longer wanted leaves the cluster before its VM goes.
 */
export class TumblebugCluster extends pulumi.ComponentResource {
  /** Administrator's kubeconfig. Secret. */
  readonly kubeconfig: pulumi.Output<string>;
  readonly endpoints: KubeadmCluster["endpoints"];
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Kubernetes version that the cluster runs, MAJOR.MINOR.PATCH. */
  readonly version: pulumi.Output<string>;
  /** Machine → its VM. */
  readonly vms: pulumi.Output<Record<string, MachineVm>>;
  /** Pending, Provisioning, Provisioned or Failed, with reason and message. */
  readonly status: pulumi.Output<ClusterStatus>;

  private readonly slots: Slot[];
  private readonly blocks: Map<string, string>;
  private readonly recorded: RecordedCluster;
  private readonly infrastructure: string;
  private readonly prefix: string;
  private readonly server: ServerInput;
  private readonly child: pulumi.CustomResourceOptions & { parent: pulumi.Resource };

  constructor(
    private readonly clusterName: string,
    private readonly args: TumblebugClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("foresail:tumblebug:TumblebugCluster", clusterName, {}, opts);
    this.slots = wantedSlots(args.groups, args.replace);
    this.blocks = connectionBlocks(args.networkCidr, args.connections);
    this.recorded = recordedCluster(clusterName, args.existing);
    this.infrastructure = args.infrastructure ?? clusterName;
    this.prefix = args.resources.prefix ?? clusterName;
    const { credentials, generation = "auto", ...server } = args.server;
    const asked = { ...server, ...(credentials === undefined ? {} : { credentials }) };

    const plan = this.checkServer(pulumi.output<object>({ ...asked, generation }));
    this.server = pulumi.output<object>({
      ...asked,
      generation: plan.found.apply((found) => found.generation),
    });
    this.child = { parent: this, dependsOn: [plan, ...this.makeNamespace(plan)] };
    const objects = this.makeObjects(plan);
    const mcis = this.makeMachines(plan, objects);
    const balancer = this.makeLoadBalancer(mcis);
    const cluster = this.makeCluster(plan, mcis, objects, balancer);
    this.removeVms(mcis, cluster);

    this.kubeconfig = cluster.kubeconfig;
    this.endpoints = cluster.endpoints;
    this.nodes = cluster.nodes;
    this.version = cluster.version;
    this.vms = mcis.vms;
    this.status = this.describeStatus(cluster);
    this.registerOutputs({
      kubeconfig: this.kubeconfig,
      endpoints: this.endpoints,
      nodes: this.nodes,
      version: this.version,
      vms: this.vms,
      status: this.status,
    });
  }

  /** The connections that machines are in; others need nothing made. */
  private get connections() {
    return this.args.connections
      .filter(({ name }) => this.slots.some(({ connection }) => connection === name))
      .map(({ name, cidr }) => ({
        name,
        cidr: cidr ?? this.blocks.get(name) ?? "",
        cidrWritten: cidr !== undefined,
      }));
  }

  private checkServer(server: ServerInput): TumblebugPlan {
    const { namespace, createNamespace = false, endpoint, allowMock = false } = this.args;
    const names = objectNames(
      { namespace, prefix: this.prefix, slots: this.slots },
      this.connections.map(({ name }) => name),
    );
    return new TumblebugPlan(
      `${this.clusterName}-plan`,
      {
        server,
        namespace,
        createNamespace,
        infrastructure: this.infrastructure,
        connections: this.connections.map(({ name, cidr }) => ({
          name,
          cidr,
          vNet: names.vNets.find(({ connection }) => connection === name)?.name ?? "",
        })),
        slots: this.slots,
        loadBalancer: endpoint !== undefined && "nlb" in endpoint,
        allowMock,
        objects: names,
        ...(this.recorded.mark === undefined ? {} : { mark: this.recorded.mark }),
      },
      { parent: this },
    );
  }

  private makeNamespace(plan: TumblebugPlan): TumblebugNamespace[] {
    const { namespace, createNamespace, resources } = this.args;
    if (!createNamespace) return [];
    return [
      new TumblebugNamespace(
        `${this.clusterName}-namespace`,
        {
          server: this.server,
          name: namespace,
          mark: this.markOf(plan),
          keepOnDelete: resources.keepOnDelete,
          foreign: plan.found.apply(({ namespaceIsForeign }) => namespaceIsForeign),
        },
        { parent: this, dependsOn: [plan] },
      ),
    ];
  }

  private makeObjects(plan: TumblebugPlan): MadeObjects {
    const { namespace, user, resources } = this.args;
    return makeObjects(
      {
        server: this.server,
        namespace,
        prefix: this.prefix,
        keepOnDelete: resources.keepOnDelete,
        mark: this.markOf(plan),
        plan,
        user,
        connections: this.connections,
        slots: this.slots,
        security: () => this.security(),
      },
      this.child,
    );
  }

  private security(): SecurityWish {
    const { access, nodeAddresses, sshPort, cluster } = this.args;
    const overInternet = nodeAddresses === "public";
    return {
      ssh: access.ssh,
      ...(sshPort === undefined ? {} : { sshPort }),
      api: access.api,
      nodePorts: access.nodePorts,
      nodes: overInternet ? access.nodes : [...this.connections.map(({ cidr }) => cidr), ...access.nodes],
      pods: cluster.network?.podCidr ?? "10.244.0.0/16",
      podNetwork: podNetworkKind(cluster),
      overInternet,
    };
  }

  private makeMachines(plan: TumblebugPlan, { objects, specs, images }: MadeObjects): TumblebugMcis {
    const { namespace, user, timeoutSeconds } = this.args;
    const { vms, leaving } = this.recorded;
    return new TumblebugMcis(
      `${this.clusterName}-machines`,
      {
        server: this.server,
        namespace,
        infrastructure: this.infrastructure,
        mark: this.markOf(plan),
        slots: this.slots,
        objects,
        specs,
        images,
        user,
        timeoutSeconds,
        recorded: { vms, leaving },
      },
      { ...this.child, customTimeouts: longEnough(timeoutSeconds) },
    );
  }

  private makeLoadBalancer(mcis: TumblebugMcis): TumblebugLoadBalancer | undefined {
    const { endpoint, namespace, timeoutSeconds } = this.args;
    const planes = this.slots.filter(({ role }) => role === "control-plane");
    const [first] = planes;
    if (!endpoint || !("nlb" in endpoint) || !first) return undefined;
    return new TumblebugLoadBalancer(
      `${this.clusterName}-api`,
      {
        server: this.server,
        namespace,
        infrastructure: this.infrastructure,
        group: first.vmGroup,
        port: endpoint.nlb.port,
        targetPort: API_PORT,
        machines: planes.map(({ machine }) => machine),
        timeoutSeconds,
      },
      { ...this.child, dependsOn: [mcis] },
    );
  }

  private makeCluster(
    plan: TumblebugPlan,
    mcis: TumblebugMcis,
    { privateKeys }: MadeObjects,
    balancer?: TumblebugLoadBalancer,
  ): KubeadmCluster {
    const { cluster, endpoint, lost = [], nodeAddresses } = this.args;
    const reached: EndpointArgs | undefined =
      balancer && endpoint && "nlb" in endpoint
        ? { external: { host: balancer.address, port: endpoint.nlb.port } }
        : endpoint && !("nlb" in endpoint)
          ? endpoint
          : undefined;
    return new KubeadmCluster(
      this.clusterName,
      {
        ...fitNetwork(cluster, nodeAddresses),
        machines: this.slots.map((slot) => this.machine(slot, plan, mcis, privateKeys)),
        ...(reached ? { endpoint: reached } : {}),
        certificateNames: [...(cluster.certificateNames ?? []), ...(balancer ? [balancer.address] : [])],
        lost,
      },
      { parent: this },
    );
  }

  private machine(
    slot: Slot,
    plan: TumblebugPlan,
    mcis: TumblebugMcis,
    privateKeys: MadeObjects["privateKeys"],
  ): MachineArgs {
    const { machine: name, role, connection } = slot;
    const { nodeAddresses, sshPort } = this.args;
    const group = this.args.groups.find((one) => one.name === slot.group);
    // what stays as it is is known in a preview that adds other machines
    const vm: pulumi.Output<MachineVm> = mcis.known.apply((known) => {
      const kept = known[name];
      return kept ? pulumi.output(kept) : mcis.vms.apply((vms) => vms[name] as MachineVm);
    });
    const { publicAddress: address, user } = vm;
    const internalAddress =
      nodeAddresses === "public"
        ? address
        : vm.apply(({ privateAddress, publicAddress }) => privateAddress || publicAddress);
    return {
      name,
      role,
      ...(role === "worker" && group ? { pool: nodeGroupOf(group) } : {}),
      address,
      port: sshPort ?? vm.sshPort,
      user,
      ...(privateKeys[connection] ? { privateKey: privateKeys[connection] } : {}),
      internalAddress,
      // the public address is in no certificate
      ...(role === "control-plane" && nodeAddresses === "private" ? { certificateName: "kubernetes" } : {}),
      labels: plan.found.apply(({ connections }) => {
        const at = connections[connection];
        return { ...(at ? topologyLabels(at) : {}), ...group?.labels };
      }),
      taints: group?.taints ?? [],
    };
  }

  /** After everything of the cluster: a machine has left it when its VM goes. */
  private removeVms(mcis: TumblebugMcis, cluster: KubeadmCluster): void {
    const { namespace, timeoutSeconds } = this.args;
    new TumblebugVmRemoval(
      `${this.clusterName}-removal`,
      {
        server: this.server,
        namespace,
        infrastructure: this.infrastructure,
        machines: this.slots.map(({ machine }) => machine),
        leaving: mcis.leaving,
        timeoutSeconds,
        left: this.recorded.left,
      },
      { parent: this, dependsOn: [mcis, cluster], customTimeouts: longEnough(timeoutSeconds) },
    );
  }

  private markOf(plan: TumblebugPlan): pulumi.Input<string> {
    return this.recorded.mark ?? plan.mark;
  }

  /** In a preview as the state has it; in a run that came to its end the cluster is there. */
  private describeStatus(cluster: KubeadmCluster): pulumi.Output<ClusterStatus> {
    if (pulumi.runtime.isDryRun()) return pulumi.output(recordedStatus(this.recorded));
    return pulumi.all([cluster.version, cluster.nodes]).apply(() => provisioned());
  }
}

/** Clouds take their time, and the handlers have a deadline of their own that says what was waited for. */
function longEnough(seconds: number) {
  const most = `${2 * seconds + 600}s`;
  return { create: most, update: most, delete: most };
}
