import * as pulumi from "@pulumi/pulumi";
import { renderKubeconfig, type AdminCredentials } from "../../providers/kubeadm/machine/cluster/kubeconfig";
import { keyGeneration } from "../../providers/kubeadm/plan/encryption/encryption";
import { controlPlaneEndpoint, type Endpoint } from "../../providers/kubeadm/plan/cluster/specification";
import { endsByMember } from "../../providers/kubeadm/plan/certificates/report";
import { CONTROL_PLANE_GROUP, type Machine } from "../../providers/kubeadm/plan/cluster/machine";
import type { RecordedMachine } from "../../providers/kubeadm/plan/facts/ownership";
import { stackName } from "../../lib/pulumi/stack";
import { stackOwner } from "../stack-owner";
import * as resources from "../../providers/kubeadm/resources/declarations";
import { maintenanceSettings, networkPlugin, podNetworkKind, secretFiles } from "./defaults";
import { specification, stagedFor, timeouts } from "./defaults";
import { inform, warn } from "../../lib/pulumi/log";
import { endpointOf } from "./endpoint";
import type { CheckedArgs, KubeadmClusterArgs } from "./kubeadm-cluster-args";
import {
  contactedMachines,
  describeHostKeys,
  machinesToPrepare,
  describeMachines,
  jumpHost,
  sshCredentials,
  type MachineInputs,
} from "./machines";
import { installPodNetwork, pluginName } from "./pod-network";
import { credentialsSum, type Preparation, preparationsDone, prepareMachines } from "./prepared-machine";
import { checkedCluster, warnOf } from "./validation";
import {
  agentsResource,
  groupResource,
  initResource,
  rolloutResource,
} from "../../providers/kubeadm/plan/cluster/resource-names";

/**
 * A Kubernetes cluster that kubeadm creates on machines reachable over SSH.
 *
 * Prepares all machines in parallel and initializes the first control plane. Then installs the pod network, and joins
 * the other control planes, each when etcd has the one before it, and the workers beside them. Each gets its agent.
 * Machines can be added and removed later, and the version can change; the preview lists what that does to each node.
 *
 * @example
 * const cluster = new KubeadmCluster("onprem", {
 *   version: "1.36.3",
 *   ssh: { user: "admin", privateKey: config.requireSecret("sshPrivateKey") },
 *   machines: [
 *     { name: "cp-1", role: "control-plane", address: "192.0.2.11" },
 *     { name: "w-1", role: "worker", address: "192.0.2.21" },
 *   ],
 * });
 * export const kubeconfig = cluster.kubeconfig;
 */
export class KubeadmCluster extends pulumi.ComponentResource {
  /**
   * Administrator's kubeconfig, with one context per control plane. The current context is the load balancer if
   * there is one, otherwise a healthy control plane. Empty while `--target` leaves it out. Secret.
   */
  readonly kubeconfig: pulumi.Output<string>;
  /** @internal The same kubeconfig without the load balancer, which may start only after the first control plane. */
  readonly directKubeconfig: pulumi.Output<string>;
  /** The API servers: host:port as the nodes use it, and one address per control plane as seen from outside. */
  readonly endpoints: pulumi.Output<{ nodes: string; controlPlanes: Record<string, string> }>;
  readonly nodes: pulumi.Output<resources.NodeOutput[]>;
  /** Kubernetes version that the cluster runs, MAJOR.MINOR.PATCH. */
  readonly version: pulumi.Output<string>;
  /** When the first certificate ends that kubeadm renews, by control plane; empty until node agents report it. */
  readonly certificatesExpire: pulumi.Output<Record<string, string>>;

  /** @internal The machines in the form that the cluster's resources take. */
  readonly machines: MachineInputs[];
  /** @internal Inputs that every resource of the cluster takes. */
  readonly common;
  /** @internal The resource for `deletedWith`: what lives in the cluster is deleted with it. */
  readonly existence: resources.ClusterInit;
  /** @internal After this resource every machine is a member of the cluster and has its agent. */
  readonly agents: resources.NodeAgents;
  private readonly owner: resources.ClusterOwner;
  private readonly endpoint: pulumi.Output<Endpoint>;
  private readonly prepared: ReadonlyMap<string, Preparation>;
  private readonly args: CheckedArgs;
  private readonly credentialsSum: pulumi.Output<string>;

  constructor(
    private readonly clusterName: string,
    given: KubeadmClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("foresail:kubeadm:KubeadmCluster", clusterName, {}, opts);
    const args = (this.args = checkedCluster(clusterName, given));
    if (pulumi.runtime.isDryRun())
      void inform(`KubeadmCluster ${clusterName}: ${describeHostKeys(args)}`, this);
    warnOf(args, (line) => void warn(`KubeadmCluster ${clusterName}: ${line}`, this));
    this.endpoint = endpointOf(clusterName, args);
    this.credentialsSum = credentialsSum(args);
    this.common = {
      specification: specification(this.endpoint, args),
      stack: stackName(),
      owner: stackOwner(),
      jumpHost: jumpHost(args),
      credentials: sshCredentials(args),
      timeouts: timeouts(args),
    };
    this.machines = describeMachines(clusterName, args, this.common, { parent: this });

    // members of a cluster that exists are claimed together, before anything is written to any of them
    const owner = (this.owner = this.ownMachines());
    const prepared = args.adopt ? undefined : this.prepareMachines(owner);
    this.existence = this.initCluster(owner, prepared);
    this.prepared = prepared ?? this.prepareMachines(this.existence);
    const { direct, balanced } = this.readKubeconfig();
    this.directKubeconfig = direct;
    this.kubeconfig = balanced;
    const reader = this.createReader();
    const pods = {
      plugin: networkPlugin(args),
      podCidr: args.network.podSubnet,
      kubeconfig: direct,
    };
    // after it, since its check refuses a cluster that another stack has taken over
    const network = installPodNetwork(clusterName, pods, this.inside(reader));
    const controlPlanes = this.join(CONTROL_PLANE_GROUP, [reader, ...network]);
    const following = this.followControlPlanes(controlPlanes);
    const workers = Object.keys(this.workerPools()).map((pool) => this.join(pool, [reader, ...network]));
    this.agents = this.installNodeAgents([controlPlanes, ...following, ...workers]);
    const rollout = this.rollOut(this.agents);
    this.rotateEncryptionKey(rollout);

    this.nodes = rollout.nodes;
    this.version = rollout.version;
    this.certificatesExpire = rollout.nodes.apply(endsByMember);
    this.endpoints = this.describeEndpoints();
    const { kubeconfig, endpoints, version } = this;
    // without the nodes: changed outputs of a component cost one more write of the whole state
    this.registerOutputs({ kubeconfig, endpoints, version });
  }

  private prepareMachines(...after: pulumi.Resource[]): Map<string, Preparation> {
    const { ssh, dial, prepare } = timeouts(this.args);
    const addresses = (machines: MachineInputs[]) =>
      pulumi.output(machines.map(({ name, internalAddress }) => ({ name, internalAddress })));
    const args = {
      ...this.common,
      endpoint: this.endpoint,
      controlPlanes: addresses(this.machinesOf(CONTROL_PLANE_GROUP)),
      // without a proxy, a machine's preparation waits for no other worker's address
      withoutProxy: addresses(this.args.proxy ? this.machines : []),
      podNetwork: podNetworkKind(this.args),
      registryCredentials: this.args.registries.credentials,
      sshSeconds: ssh,
      dialSeconds: dial,
      revision: this.args.bootstrapRevision,
    };
    const waits = after.length > 0 ? { dependsOn: after } : {};
    const opts = { parent: this, customTimeouts: { create: `${prepare + ssh}s` }, ...waits };
    return prepareMachines(this.clusterName, this.machines, args, opts);
  }

  /** Returns the options of what lives in the cluster, and is deleted with it. */
  private inside(...after: pulumi.Resource[]) {
    const { existence } = this;
    return { parent: this, dependsOn: [existence, ...after], deletedWith: existence };
  }

  /** Refuses machines of other stacks before anything is written to any of them, and records which ones this stack has. */
  private ownMachines(): resources.ClusterOwner {
    const { lost, takeOver, adopt, resetOnDestroy, provided } = this.args;
    const { owner, jumpHost, credentials, timeouts } = this.common;
    return new resources.ClusterOwner(
      `${this.clusterName}-owner`,
      {
        ...{ specification: { name: this.args.name }, owner, jumpHost, credentials, timeouts, lost },
        machines: contactedMachines<RecordedMachine>(
          this.machines,
          ({ name, address, port, user, hostKey, group }) => ({ name, address, port, user, hostKey, group }),
        ),
        ...(takeOver === undefined ? {} : { takeOver }),
        ...(adopt && !resetOnDestroy ? { adopts: true as const } : {}),
        ...(provided ? { provided: true as const } : {}),
        ...(adopt ? {} : { desired: machinesToPrepare(this.machines, this.common, this.args) }),
        credentialsSum: this.credentialsSum,
      },
      { parent: this },
    );
  }

  private initCluster(
    owner: pulumi.Resource,
    prepared: ReadonlyMap<string, Preparation> = new Map(),
  ): resources.ClusterInit {
    const { adopt, resetOnDestroy, provided } = this.args;
    const registryCredentials = pulumi.secret(this.args.registries.credentials ?? {});
    // an adoption claims all members together
    const machines = adopt ? this.machines : contactedMachines<Machine>(this.machines, (machine) => machine);
    const { annotations } = this.args.rollout;
    const adoption = adopt
      ? { adopt: { annotations, ...(resetOnDestroy ? { reset: true as const } : {}) } }
      : {};
    return new resources.ClusterInit(
      initResource(this.clusterName),
      {
        ...{ ...this.common, machines, ...this.serverNames(), registryCredentials },
        ...(provided ? { provided: true as const } : {}),
        ...{ ...adoption, ...this.takeOver(), networkPlugin: pluginName(networkPlugin(this.args)) },
      },
      {
        parent: this,
        dependsOn: [owner, ...this.preparedOf(CONTROL_PLANE_GROUP, prepared)],
        // otherwise the component's own option
        ...(this.args.deletionProtection ? { protect: true } : {}),
      },
    );
  }

  private readKubeconfig() {
    const machines = this.machinesOf(CONTROL_PLANE_GROUP);
    const { admin, healthy } = new resources.AdminKubeconfig(
      `${this.clusterName}-kubeconfig`,
      { ...this.common, machines },
      { parent: this, dependsOn: [this.existence] },
    );
    const { serverNames = {} } = this.serverNames();
    const servers = machines.map(({ name, apiServer }) => {
      const certificateName = serverNames[name];
      return { name, apiServer, ...(certificateName === undefined ? {} : { certificateName }) };
    });
    const render = (loadBalancer?: pulumi.Input<string>) =>
      pulumi.secret(
        pulumi
          .all([pulumi.output(servers), admin, healthy, loadBalancer])
          .apply(([controlPlanes, credentials, preferred, balancer]) => {
            // `--target` may leave out what reads them: the engine then answers without outputs
            if ((credentials as AdminCredentials | undefined) === undefined) return "";
            const balanced = balancer === undefined ? {} : { loadBalancer: balancer };
            return renderKubeconfig(this.args.name, { controlPlanes, preferred, ...balanced }, credentials);
          }),
      );
    return { direct: render(), balanced: render(this.args.loadBalancer) };
  }

  /**
   * Creates the account for previews by users without write permission, and the policy that protects annotations. Machines
   * join after it, since it takes back what an interrupted run left in the configuration that they would get.
   */
  private createReader(): resources.ReaderAccount {
    const { annotations, osUpdates } = this.args.rollout;
    const { configuration } = this.existence;
    const args = {
      ...this.common,
      machines: this.machinesOf(CONTROL_PLANE_GROUP),
      ...this.serverNames(),
      ...this.adopted(),
      ...this.takeOver(),
      annotations,
      configuration,
      ...this.drift(),
      ...(osUpdates === undefined ? {} : { reportsUpdates: true as const }),
      kubeconfig: this.directKubeconfig,
    };
    return new resources.ReaderAccount(`${this.clusterName}-reader`, args, this.inside());
  }

  /** Updates the forwarders on every node when control planes are added or removed. */
  private followControlPlanes(controlPlanes: resources.NodeGroup): resources.LoopbackEndpoint[] {
    if (!("loopback" in this.args.endpoint)) return [];
    const { common, machines, directKubeconfig: kubeconfig } = this;
    const opts = { ...this.inside(), dependsOn: [controlPlanes] };
    const { unreachable } = this.tolerance();
    const args = { ...common, machines, ...(unreachable === undefined ? {} : { unreachable, kubeconfig }) };
    return [new resources.LoopbackEndpoint(`${this.clusterName}-endpoint`, args, opts)];
  }

  /** Returns how many unreachable machines may be left out; empty where a state has no such setting. */
  private tolerance() {
    const { unreachable } = this.args.rollout;
    return unreachable === undefined ? {} : { unreachable };
  }

  /** Returns the names in the API servers' certificates; empty where those of their addresses are in them. */
  private serverNames() {
    const named = this.args.machines.flatMap(({ name, certificateName }) =>
      certificateName === undefined ? [] : [[name, certificateName] as const],
    );
    return named.length > 0 ? { serverNames: Object.fromEntries(named) } : {};
  }

  /** Returns that others made the cluster; empty if foresail did. */
  private adopted() {
    return this.args.adopt ? { adopted: true as const } : {};
  }

  /** Returns the former owner, from which the stack takes over; empty for none. */
  private takeOver() {
    const { takeOver } = this.args;
    return takeOver === undefined ? {} : { takeOver };
  }

  /** Returns what is done about files that others change; empty where a state has no such setting. */
  private drift() {
    const { drift } = this.args;
    return drift === undefined ? {} : { drift };
  }

  /** Returns what the resources for versions take. */
  private versioned() {
    const { common, machines, directKubeconfig: kubeconfig } = this;
    return { ...common, machines, kubeconfig };
  }

  private agentSettings() {
    const { annotations } = this.args.rollout;
    return { annotations, staged: stagedFor(this.args), ...this.drift() };
  }

  /** Installs the agent, and the versions that it can choose from, on every node, also those that have just joined. */
  private installNodeAgents(after: pulumi.Resource[]): resources.NodeAgents {
    const { configuration } = this.existence;
    const args = { ...this.versioned(), ...this.tolerance(), ...this.agentSettings(), configuration };
    return new resources.NodeAgents(agentsResource(this.clusterName), args, this.inside(...after));
  }

  /** Rolls out versions after scaling: every node is in the cluster before any node changes its version. */
  private rollOut(agents: resources.NodeAgents): resources.NodeRollout {
    const { leavingLater = [] } = this.args;
    const args = {
      ...this.versioned(),
      ...this.drift(),
      configuration: this.existence.configuration,
      rollout: this.args.rollout,
      drain: this.args.drain,
      ...secretFiles(this.args),
      ...maintenanceSettings(this.args),
      ...this.adopted(),
      ...(leavingLater.length > 0 ? { leavingLater } : {}),
    };
    return new resources.NodeRollout(rolloutResource(this.clusterName), args, this.inside(agents));
  }

  /** Rotates the key for Secrets at rest when nothing else changes the control planes. */
  private rotateEncryptionKey(rollout: resources.NodeRollout): void {
    if (keyGeneration(this.args) === 1) return;
    const { initialKeyGeneration } = this.existence;
    const machines = this.machinesOf(CONTROL_PLANE_GROUP);
    const args = { ...this.versioned(), machines, initialKeyGeneration };
    new resources.EncryptionKey(`${this.clusterName}-encryption-key`, args, this.inside(rollout));
  }

  /** Joins the machines of a group. On destroy, all machines are reset together, since no node is left for their pods. */
  private join(group: string, after: pulumi.Resource[]): resources.NodeGroup {
    return new resources.NodeGroup(
      groupResource(this.clusterName, group),
      {
        ...this.versioned(),
        group,
        machines: this.machinesOf(group),
        controlPlanes: this.machinesOf(CONTROL_PLANE_GROUP),
        lost: this.args.lost,
        ...(this.args.provided ? {} : { begun: this.owner.former }),
        ...(this.args.adopt ? { adopted: this.existence.adopted } : {}),
        elsewhere: this.machines.filter((machine) => machine.group !== group).map(({ name }) => name),
        ...(group === CONTROL_PLANE_GROUP
          ? { pools: this.workerPools(), configuration: this.existence.configuration }
          : {}),
        agents: this.agentSettings(),
        preparations: preparationsDone(this.machinesOf(group), this.prepared),
        credentialsSum: this.credentialsSum,
        podNetwork: podNetworkKind(this.args),
        ...(this.args.bootstrapRevision === undefined
          ? {}
          : { bootstrapRevision: this.args.bootstrapRevision }),
        drain: this.args.drain,
      },
      this.inside(...this.preparedOf(group, this.prepared), ...after),
    );
  }

  private describeEndpoints() {
    const servers = this.machinesOf(CONTROL_PLANE_GROUP).map(
      ({ name, apiServer }) => [name, apiServer] as const,
    );
    return pulumi
      .all([this.endpoint, pulumi.all(Object.fromEntries(servers))])
      .apply(([endpoint, controlPlanes]) => ({ nodes: controlPlaneEndpoint(endpoint), controlPlanes }));
  }

  /** Returns the names of the machines of each worker pool, in the order of the configuration. */
  private workerPools(): Record<string, string[]> {
    const pools: Record<string, string[]> = {};
    for (const { role, group, name } of this.machines)
      if (role === "worker") (pools[group] ??= []).push(name);
    return pools;
  }

  private machinesOf(group: string): MachineInputs[] {
    return this.machines.filter((machine) => machine.group === group);
  }

  private preparedOf(group: string, prepared: ReadonlyMap<string, Preparation>): pulumi.Resource[] {
    return this.machinesOf(group).flatMap(({ name }) => prepared.get(name) ?? []);
  }
}
