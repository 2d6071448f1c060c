import { withCurrentNames } from "../../lib/pulumi/renamed-arguments";
import { KUBEADM_CLUSTER_RENAMES, networkOf } from "../../providers/kubeadm/plan/defaults";
import * as pulumi from "@pulumi/pulumi";
import type { Command } from "@pulumi/command/remote";
import { renderKubeconfig, type AdminCredentials } from "../../providers/kubeadm/machine/kubeconfig";
import { controlPlaneEndpoint } from "../../providers/kubeadm/plan/specification";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/machine";
import { stackName } from "../../lib/pulumi/stack";
import { AdminKubeconfig } from "../../providers/kubeadm/resources/admin-kubeconfig";
import { ClusterInit } from "../../providers/kubeadm/resources/cluster-init";
import { LoopbackEndpoint } from "../../providers/kubeadm/resources/loopback-endpoint";
import { NodeAgents } from "../../providers/kubeadm/resources/node-agents";
import { NodeGroup } from "../../providers/kubeadm/resources/node-group";
import type { NodeOutput } from "../../providers/kubeadm/resources/node-group-inputs";
import { NodeRollout } from "../../providers/kubeadm/resources/node-rollout";
import { ReaderAccount } from "../../providers/kubeadm/resources/reader-account";
import { drainOptions, networkPlugin, rolloutSettings, specification, stagedFor, timeouts } from "./defaults";
import type { KubeadmClusterArgs } from "./kubeadm-cluster-args";
import { describeMachines, jumpHost, sshCredentials, type MachineInputs } from "./machines";
import { installPodNetwork } from "./pod-network";
import { prepareMachine } from "./prepared-machine";
import { assertArguments } from "./validation";
import { groupResource, initResource, rolloutResource } from "../../providers/kubeadm/plan/resource-names";

/**
 * A Kubernetes cluster that kubeadm creates on machines reachable over SSH.
 *
 * Prepares all machines in parallel and initializes the first control plane. Then installs the pod network, joins
 * the other control planes one by one, joins the workers, and installs an agent on each node. Machines can be added
 * and removed later, and the version can change; the preview lists what that does to each node.
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
  /** The same kubeconfig without the load balancer, which may start only after the first control plane. Secret. */
  readonly directKubeconfig: pulumi.Output<string>;
  /** The API servers: host:port as the nodes use it, and one address per control plane as seen from outside. */
  readonly endpoints: pulumi.Output<{ nodes: string; controlPlanes: Record<string, string> }>;
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Kubernetes version that the cluster runs, MAJOR.MINOR.PATCH. */
  readonly version: pulumi.Output<string>;

  /** The machines in the form that the cluster's resources take. */
  readonly machines: MachineInputs[];
  /** Inputs that every resource of the cluster takes. */
  readonly common;
  /** The resource for `deletedWith`: what lives in the cluster is deleted with it. */
  readonly existence: pulumi.CustomResource;

  private readonly args: KubeadmClusterArgs;

  constructor(
    private readonly clusterName: string,
    given: KubeadmClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("foresail:kubeadm:KubeadmCluster", clusterName, {}, opts);
    const args = withCurrentNames(`KubeadmCluster ${clusterName}`, given, KUBEADM_CLUSTER_RENAMES);
    this.args = args;
    assertArguments(clusterName, args);
    this.machines = describeMachines(clusterName, args, timeouts(args).ssh, { parent: this });
    this.common = {
      specification: specification(clusterName, args),
      stack: stackName(),
      jumpHost: jumpHost(args),
      credentials: sshCredentials(args),
      timeouts: timeouts(args),
    };

    const prepared = this.prepareMachines();
    const init = this.initialise(prepared);
    this.existence = init;
    const { direct, balanced } = this.readKubeconfig(init);
    this.directKubeconfig = direct;
    this.kubeconfig = balanced;
    this.makeReader(init);
    const network = this.installNetwork(init);
    const controlPlanes = this.joinControlPlanes(init, prepared, network);
    const endpoint = this.followControlPlanes(init, controlPlanes);
    const workers = this.joinWorkers(init, prepared, [controlPlanes, ...endpoint]);
    const agents = this.installNodeAgents(init, [controlPlanes, ...endpoint, ...workers]);
    const { nodes, version } = this.rollOut(init, agents);

    this.nodes = nodes;
    this.version = version;
    this.endpoints = this.describeEndpoints();
    this.registerOutputs({
      kubeconfig: this.kubeconfig,
      endpoints: this.endpoints,
      nodes: this.nodes,
      version: this.version,
    });
  }

  private prepareMachines(): Map<string, Command> {
    const { ssh, dial, prepare } = timeouts(this.args);
    const controlPlanes = pulumi.output(
      this.machinesOf(CONTROL_PLANE_GROUP).map(({ name, internalAddress }) => ({ name, internalAddress })),
    );
    const command = (machine: MachineInputs) =>
      prepareMachine(
        this.clusterName,
        machine.name,
        {
          ...this.common,
          machine: pulumi.output(machine),
          controlPlanes,
          registryCredentials: this.args.registries?.credentials,
          sshSeconds: ssh,
          dialSeconds: dial,
          revision: this.args.bootstrapRevision,
        },
        { parent: this, customTimeouts: { create: `${prepare + ssh}s` } },
      );
    return new Map(this.machines.map((machine) => [machine.name, command(machine)]));
  }

  private initialise(prepared: Map<string, Command>): ClusterInit {
    return new ClusterInit(
      initResource(this.clusterName),
      {
        ...this.common,
        machines: this.machinesOf(),
        registryCredentials: pulumi.secret(this.args.registries?.credentials ?? {}),
      },
      { parent: this, dependsOn: this.preparedOf(prepared, CONTROL_PLANE_GROUP) },
    );
  }

  private readKubeconfig(init: ClusterInit) {
    const machines = this.machinesOf(CONTROL_PLANE_GROUP);
    const { admin, healthy } = new AdminKubeconfig(
      `${this.clusterName}-kubeconfig`,
      { ...this.common, machines },
      { parent: this, dependsOn: [init] },
    );
    const servers = machines.map(({ name, apiServer }) => {
      const { certificateName } = this.args.machines.find((machine) => machine.name === name) ?? {};
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
            return renderKubeconfig(this.clusterName, { controlPlanes, preferred, ...balanced }, credentials);
          }),
      );
    return { direct: render(), balanced: render(this.args.loadBalancer) };
  }

  /** Creates the account for previews by users without write permission. */
  private makeReader(init: ClusterInit): ReaderAccount {
    const { specification, stack, timeouts } = this.common;
    return new ReaderAccount(
      `${this.clusterName}-reader`,
      { specification, stack, timeouts, kubeconfig: this.directKubeconfig },
      { parent: this, dependsOn: [init], deletedWith: init },
    );
  }

  private installNetwork(init: ClusterInit): pulumi.Resource[] {
    return installPodNetwork(
      this.clusterName,
      {
        plugin: networkPlugin(this.args),
        podCidr: networkOf(this.args.network).podSubnet,
        kubeconfig: this.directKubeconfig,
      },
      { parent: this, dependsOn: [init], deletedWith: init },
    );
  }

  private joinControlPlanes(
    init: ClusterInit,
    prepared: Map<string, Command>,
    network: pulumi.Resource[],
  ): NodeGroup {
    return this.nodeGroup(CONTROL_PLANE_GROUP, init, [
      ...this.preparedOf(prepared, CONTROL_PLANE_GROUP),
      ...network,
    ]);
  }

  /** Updates the forwarders on every node when control planes are added or removed. */
  private followControlPlanes(init: ClusterInit, controlPlanes: NodeGroup): LoopbackEndpoint[] {
    if (this.args.endpoint && !("loopback" in this.args.endpoint)) return [];
    const endpoint = new LoopbackEndpoint(
      `${this.clusterName}-endpoint`,
      { ...this.common, machines: this.machinesOf() },
      { parent: this, dependsOn: [controlPlanes], deletedWith: init },
    );
    return [endpoint];
  }

  private joinWorkers(
    init: ClusterInit,
    prepared: Map<string, Command>,
    after: pulumi.Resource[],
  ): NodeGroup[] {
    return Object.keys(this.workerPools()).map((pool) =>
      this.nodeGroup(pool, init, [...this.preparedOf(prepared, pool), ...after]),
    );
  }

  /**
   * Installs the agent, and the versions that it can choose from, on every node, including nodes that have just
   * joined.
   */
  private installNodeAgents(init: ClusterInit, after: pulumi.Resource[]): NodeAgents {
    return new NodeAgents(
      `${this.clusterName}-node-agents`,
      {
        ...this.common,
        machines: this.machinesOf(),
        annotations: rolloutSettings(this.args).annotations,
        staged: stagedFor(this.args),
        kubeconfig: this.directKubeconfig,
      },
      { parent: this, dependsOn: [init, ...after], deletedWith: init },
    );
  }

  /** Rolls out versions after scaling: every node is in the cluster before any node changes its version. */
  private rollOut(init: ClusterInit, agents: NodeAgents): NodeRollout {
    return new NodeRollout(
      rolloutResource(this.clusterName),
      {
        ...this.common,
        machines: this.machinesOf(),
        rollout: rolloutSettings(this.args),
        kubeconfig: this.directKubeconfig,
        drain: drainOptions(this.args),
      },
      { parent: this, dependsOn: [init, agents], deletedWith: init },
    );
  }

  private nodeGroup(group: string, init: ClusterInit, dependsOn: pulumi.Resource[]): NodeGroup {
    return new NodeGroup(
      groupResource(this.clusterName, group),
      {
        ...this.common,
        group,
        machines: this.machinesOf(group),
        controlPlanes: this.machinesOf(CONTROL_PLANE_GROUP),
        lost: this.args.lost ?? [],
        elsewhere: this.machines.filter((machine) => machine.group !== group).map(({ name }) => name),
        ...(group === CONTROL_PLANE_GROUP ? { pools: this.workerPools() } : {}),
        kubeconfig: this.directKubeconfig,
        drain: drainOptions(this.args),
      },
      // on destroy, all machines are reset together without a drain, since no node is left for their pods
      { parent: this, dependsOn: [init, ...dependsOn], deletedWith: init },
    );
  }

  private describeEndpoints() {
    const servers = this.machinesOf(CONTROL_PLANE_GROUP).map(({ name, apiServer }) => ({ name, apiServer }));
    return pulumi
      .all([this.common.specification, pulumi.output(servers)])
      .apply(([{ endpoint }, planes]) => ({
        nodes: controlPlaneEndpoint(endpoint),
        controlPlanes: Object.fromEntries(planes.map(({ name, apiServer }) => [name, apiServer])),
      }));
  }

  /** Returns the names of the machines of each worker pool, in the order of the configuration. */
  private workerPools(): Record<string, string[]> {
    const pools: Record<string, string[]> = {};
    for (const { role, group, name } of this.machines)
      if (role === "worker") (pools[group] ??= []).push(name);
    return pools;
  }

  /** Returns the machines of one group, or of all groups, in the order of the configuration. */
  private machinesOf(group?: string): MachineInputs[] {
    return this.machines.filter((machine) => !group || machine.group === group);
  }

  private preparedOf(prepared: Map<string, Command>, group: string): Command[] {
    return this.machinesOf(group).flatMap(({ name }) => prepared.get(name) ?? []);
  }
}
