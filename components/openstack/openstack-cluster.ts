import * as pulumi from "@pulumi/pulumi";
import { Provider } from "@pulumi/openstack/provider";
import { planRollout, type MachineRollout } from "../../core/openstack/machine-rollout";
import { wantedSlots, type Pool } from "../../core/openstack/pool";
import { recordedState, wantedMachine, type RecordedState } from "../../core/openstack/recorded-state";
import { laterLines } from "../../core/openstack/rollout-lines";
import { SECURITY_GROUPS, type PodNetworkKind } from "../../core/openstack/security-rules";
import { CloudPlan } from "../../providers/openstack/cloud-plan";
import { InitializedMark } from "../../providers/openstack/initialized-mark";
import type { NodeOutput } from "../../providers/kubeadm/node-group";
import { networkPlugin, timeouts } from "../kubeadm/defaults";
import { jumpHost, sshCredentials } from "../kubeadm/machines";
import { KubeadmCluster } from "../kubeadm/kubeadm-cluster";
import type { EndpointArgs } from "../kubeadm/kubeadm-cluster-args";
import { installCloudAddons, withExternalCloudProvider } from "./cloud-addons";
import { API_PORT, makeApiLoadBalancer, type ApiLoadBalancer } from "./load-balancer";
import { makeKeypair, makeMachine, makeServerGroups, withHostKey, type CloudMachine } from "./machines";
import { makeNetworks, networkKey, type MachineNetwork } from "./network";
import type { OpenstackClusterArgs } from "./openstack-cluster-args";
import { makeSecurityGroups, securityGroupName, type SecurityGroups } from "./security-groups";

/**
 * A kubeadm cluster on servers of an OpenStack cloud, with everything that they need there.
 *
 * One update makes what is missing, and replaces at most one control plane and `maxSurge` machines of a pool; what is
 * left to do then is in `remaining`, for the next update (docs/adr/0015-machine-turns.md).
 */
export class OpenstackCluster extends pulumi.ComponentResource {
  /** Administrator's kubeconfig. Secret. */
  readonly kubeconfig: pulumi.Output<string>;
  readonly endpoints: pulumi.Output<{
    nodes: string;
    controlPlanes: Record<string, string>;
    /** host:port of the load balancer's floating IP. */
    external?: string;
  }>;
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Kubernetes version that the cluster runs, MAJOR.MINOR.PATCH. */
  readonly version: pulumi.Output<string>;
  /** Machine name → id of its server. */
  readonly servers: pulumi.Output<Record<string, string>>;
  /** What the next updates have to do with the machines; empty when all are as wished. */
  readonly remaining: pulumi.Output<string[]>;

  private readonly state: RecordedState;
  private readonly rollout: MachineRollout;
  private readonly inCloud: pulumi.CustomResourceOptions & { parent: pulumi.Resource };
  /** Tells this stack's objects from those of any other cluster with the same name. */
  private readonly mark: pulumi.Input<string>;

  constructor(
    private readonly clusterName: string,
    private readonly args: OpenstackClusterArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("foresail:openstack:OpenstackCluster", clusterName, {}, opts);
    this.state = recordedState(clusterName, args.existing);
    this.rollout = this.planMachines();

    const plan = this.checkCloud();
    this.mark = this.state.mark ?? plan.mark;
    this.inCloud = { parent: this, provider: this.connect(), dependsOn: [plan] };
    const networks = this.makeNetworks(plan);
    const security = this.makeSecurityGroups();
    const balancer = this.makeLoadBalancer(networks);
    const machines = this.makeMachines(plan, networks, security);
    if (balancer) this.balance(balancer, machines);
    const cluster = this.makeCluster(machines, balancer);
    this.markInitialized(cluster, machines);
    this.installAddons(cluster, plan);

    this.kubeconfig = cluster.kubeconfig;
    this.nodes = cluster.nodes;
    this.version = cluster.version;
    this.endpoints = describeEndpoints(cluster, balancer);
    this.servers = pulumi.output(serverIds(machines));
    this.remaining = pulumi.output(this.laterLines());
    this.registerOutputs({
      kubeconfig: this.kubeconfig,
      endpoints: this.endpoints,
      nodes: this.nodes,
      version: this.version,
      servers: this.servers,
      remaining: this.remaining,
    });
  }

  private planMachines(): MachineRollout {
    const slots = wantedSlots(this.args.pools, networkKey(this.args.network), this.args.replace);
    return planRollout(
      slots.map((slot) => ({
        machine: wantedMachine(this.clusterName, slot, this.state),
        maxSurge: slot.maxSurge,
      })),
      this.state.machines,
    );
  }

  /** The provider reads clouds.yaml or the environment itself, so that no credential is in the state. */
  private connect(): Provider {
    const { cloud, region } = this.args;
    return new Provider(
      this.clusterName,
      { ...(cloud ? { cloud } : {}), ...(region ? { region } : {}) },
      { parent: this },
    );
  }

  private checkCloud(): CloudPlan {
    const { cloud, region, network, endpoint } = this.args;
    const { now } = this.rollout;
    return new CloudPlan(
      `${this.clusterName}-cloud`,
      {
        cluster: this.clusterName,
        ...(cloud ? { cloud } : {}),
        ...(region ? { region } : {}),
        servers: now.machines.map(({ name, pool, shape: { flavor, image, zone, rootVolume } }) => ({
          name,
          pool,
          flavor,
          image,
          ...(zone === undefined ? {} : { zone }),
          ...(rootVolume ? { rootVolume } : {}),
        })),
        ...(network.externalNetwork === undefined ? {} : { externalNetwork: network.externalNetwork }),
        loadBalancer: endpoint !== undefined && "octavia" in endpoint,
        steps: now.lines,
        leaving: now.leaving,
        later: this.laterLines(),
        ...(this.state.mark === undefined ? {} : { mark: this.state.mark }),
        known: this.state.objects,
        securityGroups: SECURITY_GROUPS.map((group) => securityGroupName(this.clusterName, group)),
      },
      { parent: this },
    );
  }

  private makeNetworks(plan: CloudPlan): Map<string, MachineNetwork> {
    return makeNetworks(
      this.clusterName,
      {
        network: this.args.network,
        inUse: this.rollout.now.machines.map(({ shape }) => shape.network),
        externalNetworkId: plan.found.apply(({ externalNetworkId }) => externalNetworkId),
        mark: this.mark,
      },
      this.inCloud,
    );
  }

  private makeSecurityGroups(): { groups: SecurityGroups; rules: pulumi.Resource[] } {
    const { access, sshPort, network, endpoint, cluster } = this.args;
    return makeSecurityGroups(
      this.clusterName,
      {
        ...access,
        ...(sshPort === undefined ? {} : { sshPort }),
        podNetwork: podNetworkKind(cluster),
        ...(endpoint && "octavia" in endpoint ? { loadBalancerCidr: network.cidr } : {}),
      },
      this.mark,
      this.inCloud,
    );
  }

  private makeLoadBalancer(networks: Map<string, MachineNetwork>): ApiLoadBalancer | undefined {
    const { access, endpoint, network } = this.args;
    const own = networks.get(networkKey(network));
    if (!endpoint || !("octavia" in endpoint) || !own) return undefined;
    const { floatingIp } = endpoint.octavia;
    return makeApiLoadBalancer(
      this.clusterName,
      {
        network: own,
        allowedCidrs: [...new Set([...access.api, network.cidr])],
        ...(floatingIp && network.externalNetwork ? { externalNetwork: network.externalNetwork } : {}),
        mark: this.mark,
      },
      this.inCloud,
    );
  }

  private makeMachines(
    plan: CloudPlan,
    networks: Map<string, MachineNetwork>,
    { groups, rules }: { groups: SecurityGroups; rules: pulumi.Resource[] },
  ): CloudMachine[] {
    const { pools, publicKey, userData, network, cluster, sshPort } = this.args;
    const keypair = makeKeypair(this.clusterName, publicKey, this.mark, this.inCloud);
    const serverGroups = makeServerGroups(this.clusterName, pools, this.mark, this.inCloud);
    const poolOf = (name: string): Pool | undefined => pools.find((pool) => pool.name === name);
    const podCidr =
      podNetworkKind(cluster) === "bridge" ? (cluster.network?.podCidr ?? "10.244.0.0/16") : undefined;
    const { cloud, region } = this.args;
    const jump = jumpHost(cluster);
    const contact = {
      ...(cloud ? { cloud } : {}),
      ...(region ? { region } : {}),
      ...(jump ? { jumpHost: jump } : {}),
      credentials: sshCredentials({ ...cluster, machines: [] }),
      timeoutSeconds: timeouts(cluster).ssh,
    };
    return this.rollout.now.machines.map((machine) => {
      const pool = poolOf(machine.pool);
      const serverGroup = serverGroups.get(machine.pool);
      const made = makeMachine(
        this.clusterName,
        {
          machine,
          ...(pool ? { pool } : {}),
          plan,
          networks,
          securityGroups: groups,
          // a machine that asks for its metadata needs the way there
          after: [...rules, ...(networks.get(machine.shape.network)?.way ?? [])],
          keypair,
          ...(serverGroup ? { serverGroup } : {}),
          ...(userData === undefined ? {} : { userData }),
          ...(network.externalNetwork === undefined ? {} : { externalNetwork: network.externalNetwork }),
          ...(podCidr === undefined ? {} : { podCidr }),
          ...(sshPort === undefined ? {} : { sshPort }),
          mark: this.mark,
        },
        this.inCloud,
      );
      return withHostKey(this.clusterName, made, contact, this.inCloud);
    });
  }

  private balance(balancer: ApiLoadBalancer, machines: CloudMachine[]): void {
    for (const { args, fixedIp } of machines)
      if (args.role === "control-plane") balancer.add(args.name, fixedIp);
  }

  private makeCluster(machines: CloudMachine[], balancer?: ApiLoadBalancer): KubeadmCluster {
    const { cluster, endpoint, cloudProvider } = this.args;
    const names = [
      ...(balancer ? [balancer.address] : []),
      ...(balancer?.floatingIp ? [balancer.floatingIp] : []),
    ];
    const reached: EndpointArgs | undefined = balancer
      ? { external: { host: balancer.address, port: API_PORT } }
      : endpoint && !("octavia" in endpoint)
        ? endpoint
        : undefined;
    return new KubeadmCluster(
      this.clusterName,
      {
        ...cluster,
        kubeadm: cloudProvider.enabled ? withExternalCloudProvider(cluster.kubeadm) : cluster.kubeadm,
        machines: machines.map(({ args }) => args),
        ...(reached ? { endpoint: reached } : {}),
        certificateNames: [...(cluster.certificateNames ?? []), ...names],
        // while a control plane is replaced there is one more for a while
        allowEvenControlPlanes: true,
        lost: this.state.lost,
      },
      { parent: this },
    );
  }

  /** Each machine is marked in the cloud when its agent has found it ready. */
  private markInitialized(cluster: KubeadmCluster, machines: CloudMachine[]): void {
    const { cloud, region } = this.args;
    new InitializedMark(
      `${this.clusterName}-initialized`,
      {
        ...cluster.common,
        machines: cluster.machines,
        ...(cloud ? { cloud } : {}),
        ...(region ? { region } : {}),
        servers: serverIds(machines),
      },
      { parent: this, dependsOn: [cluster] },
    );
  }

  private installAddons(cluster: KubeadmCluster, plan: CloudPlan): void {
    const { cloudProvider, region } = this.args;
    if (!cloudProvider.enabled) return;
    installCloudAddons(
      this.clusterName,
      {
        kubeconfig: cluster.kubeconfig,
        found: plan.found,
        ...(region ? { region } : {}),
        ...(cloudProvider.applicationCredential
          ? { applicationCredential: cloudProvider.applicationCredential }
          : {}),
      },
      { ...this.inCloud, deletedWith: cluster.existence, dependsOn: [cluster.existence] },
    );
  }

  private laterLines(): string[] {
    return laterLines(this.rollout.later);
  }
}

function serverIds(machines: readonly CloudMachine[]): Record<string, pulumi.Output<string>> {
  return Object.fromEntries(machines.map(({ args, server }) => [args.name, server.id]));
}

function describeEndpoints(cluster: KubeadmCluster, balancer?: ApiLoadBalancer) {
  return pulumi.all([cluster.endpoints, balancer?.floatingIp]).apply(([endpoints, external]) => ({
    ...endpoints,
    ...(external === undefined ? {} : { external: `${external}:${API_PORT}` }),
  }));
}

/** Which ports the pod network needs. */
function podNetworkKind(cluster: OpenstackClusterArgs["cluster"]): PodNetworkKind {
  const plugin = networkPlugin(cluster);
  const known = (["bridge", "cilium", "calico", "flannel"] as const).find((kind) => kind in plugin);
  return known ?? "other";
}
