import * as pulumi from "@pulumi/pulumi";
import { Provider } from "@pulumi/openstack/provider";
import { planRollout, type MachineRollout } from "../../providers/openstack/plan/machine-rollout";
import { desiredMachines, MACHINE_FIELDS, type Pool } from "../../providers/openstack/plan/machine";
import {
  inRecordedOrder,
  machineOf,
  networkChangeRefusals,
  recordedState,
  type RecordedState,
} from "../../providers/openstack/plan/recorded-state";
import { whenMade } from "../../lib/pulumi/left-out";
import type { StateResources } from "../../lib/pulumi/state";
import { laterLines } from "../../lib/steps/steps";
import { SECURITY_GROUPS } from "../../providers/openstack/plan/security-rules";
import type { PodNetworkKind } from "../../providers/kubeadm/plan/network-ports";
import { CloudPlan } from "../../providers/openstack/resources/cloud-plan";
import { makeApiLoadBalancer, type ApiLoadBalancer } from "./load-balancer";
import { makeKeypair, makeMachine, makeServerGroups, type CloudMachine } from "./machines";
import { makeNetworks, networkKey, type MachineNetwork } from "./network";
import type { OpenstackClusterArgs } from "./openstack-cluster-args";
import { makeSecurityGroups, securityGroupName, type SecurityGroups } from "./security-groups";

/** Arguments of the cloud objects, without those of the cluster on the machines. */
export interface InfrastructureArgs extends Omit<OpenstackClusterArgs, "cluster" | "cloudProvider"> {
  podNetwork: PodNetworkKind;
  /** CIDR block of the pods. */
  podCidr: string;
  /** The stack's state at the start of the run. */
  existing: StateResources;
  /** Kinds of cloud objects that the cluster itself creates. */
  services: { loadBalancers: boolean; volumes: boolean; ownCredential: boolean };
}

/**
 * The cloud objects of a cluster. Runs the cloud preflight first, then creates networks, security groups, the load
 * balancer and servers. This class is not a component: its objects are children of the component that creates it.
 */
export class Infrastructure {
  readonly plan: CloudPlan;
  readonly balancer: ApiLoadBalancer | undefined;
  readonly machines: CloudMachine[];
  /** Resource options of every object in the cloud. */
  readonly inCloud: pulumi.CustomResourceOptions;
  /** Remaining changes to machines, one line per later run. */
  readonly later: string[];
  /** Contents of the stack's state when the run began. */
  readonly state: RecordedState;
  /** Owner tag: distinguishes this stack's objects from those of another cluster with the same name. */
  readonly mark: pulumi.Input<string>;

  private readonly rollout: MachineRollout;

  constructor(
    private readonly clusterName: string,
    private readonly args: InfrastructureArgs,
    private readonly opts: Pick<pulumi.CustomResourceOptions, "parent"> = {},
  ) {
    this.state = recordedState(clusterName, args.existing);
    this.rollout = this.planMachines();
    this.later = laterLines(this.rollout.later);
    this.plan = this.checkCloud();
    this.mark = this.state.mark ?? this.plan.mark;
    this.inCloud = { ...opts, provider: this.connect(), dependsOn: [this.plan] };
    const networks = this.makeNetworks();
    const security = this.makeSecurityGroups();
    this.balancer = this.makeLoadBalancer(networks);
    this.machines = this.makeMachines(networks, security);
    this.balance();
  }

  private planMachines(): MachineRollout {
    const slots = desiredMachines(this.args.pools, networkKey(this.args.network), this.args.replace);
    return planRollout(
      slots.map(({ replacementsPerRun, ...slot }) => ({
        machine: machineOf(MACHINE_FIELDS, this.clusterName, slot, this.state),
        replacementsPerRun,
      })),
      this.state.machines,
    );
  }

  /** Creates the OpenStack provider, which reads clouds.yaml or the environment, so the state has no credentials. */
  private connect(): Provider {
    const { cloud, region } = this.args;
    return new Provider(
      this.clusterName,
      { ...(cloud ? { cloud } : {}), ...(region ? { region } : {}) },
      this.opts,
    );
  }

  private checkCloud(): CloudPlan {
    const { cloud, region, network, endpoint, podNetwork, services } = this.args;
    const { now } = this.rollout;
    const { machines, balancerNetwork } = this.state;
    const refusals = networkChangeRefusals({
      wanted: networkKey(network),
      existing: machines.map(({ shape }) => shape.network),
      podNetwork,
      ...(balancerNetwork === undefined ? {} : { balancer: balancerNetwork }),
    });
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
        floatingIps: this.wantedFloatingIps().filter((name) => !this.state.floatingIps.has(name)).length,
        loadBalancer: endpoint !== undefined && "octavia" in endpoint,
        ...(services.volumes ? { volumes: true } : {}),
        ...(services.ownCredential ? { ownCredential: true } : {}),
        ...(services.ownCredential && !this.state.hasCredential ? { newCredential: true } : {}),
        ...(refusals.length > 0 ? { refusals } : {}),
        steps: now.lines,
        arriving: now.arriving,
        leaving: now.leaving,
        later: this.later,
        ...(this.state.mark === undefined ? {} : { mark: this.state.mark }),
        known: this.state.objects,
        securityGroups: SECURITY_GROUPS.map((group) => securityGroupName(this.clusterName, group)),
      },
      this.opts,
    );
  }

  /** Returns the resource names of all floating IPs that exist after this run. */
  private wantedFloatingIps(): string[] {
    const { pools, endpoint } = this.args;
    const reached = new Set(pools.flatMap(({ name, floatingIp }) => (floatingIp ? [name] : [])));
    const machines = this.rollout.now.machines.filter(({ pool }) => reached.has(pool));
    const balancer = endpoint && "octavia" in endpoint && endpoint.octavia.floatingIp ? ["api"] : [];
    return [...machines.map(({ name }) => name), ...balancer].map((name) => `${this.clusterName}-${name}`);
  }

  private makeNetworks(): Map<string, MachineNetwork> {
    return makeNetworks(
      this.clusterName,
      {
        network: this.args.network,
        inUse: this.rollout.now.machines.map(({ shape }) => shape.network),
        externalNetworkId: whenMade(this.plan.found, ({ externalNetworkId }) => externalNetworkId),
        mark: this.mark,
      },
      this.inCloud,
    );
  }

  private makeSecurityGroups(): { groups: SecurityGroups; rules: pulumi.Resource[] } {
    const { access, sshPort, network, endpoint, podNetwork, services } = this.args;
    return makeSecurityGroups(
      this.clusterName,
      {
        ...access,
        ...(sshPort === undefined ? {} : { sshPort }),
        podNetwork,
        ...(endpoint && "octavia" in endpoint ? { loadBalancerCidr: network.cidr } : {}),
        ...(services.loadBalancers ? { serviceLoadBalancerCidr: network.cidr } : {}),
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
        allowedCidrs: inRecordedOrder([...access.api, network.cidr], this.state.allowedCidrs),
        ...(floatingIp && network.externalNetwork ? { externalNetwork: network.externalNetwork } : {}),
        mark: this.mark,
      },
      this.inCloud,
    );
  }

  private makeMachines(
    networks: Map<string, MachineNetwork>,
    { groups, rules }: { groups: SecurityGroups; rules: pulumi.Resource[] },
  ): CloudMachine[] {
    const { pools, publicKey, userData, network, podNetwork, podCidr, sshPort } = this.args;
    const keypair = makeKeypair(this.clusterName, publicKey, this.mark, this.inCloud);
    const serverGroups = makeServerGroups(this.clusterName, pools, this.mark, this.inCloud);
    const poolOf = (name: string): Pool | undefined => pools.find((pool) => pool.name === name);
    return this.rollout.now.machines.map((machine) => {
      const pool = poolOf(machine.pool);
      const serverGroup = serverGroups.get(machine.pool);
      return makeMachine(
        this.clusterName,
        {
          machine,
          ...(pool ? { pool } : {}),
          plan: this.plan,
          networks,
          securityGroups: groups,
          // A machine reads its metadata through the router at boot.
          after: [...rules, ...(networks.get(machine.shape.network)?.way ?? [])],
          keypair,
          ...(serverGroup ? { serverGroup } : {}),
          ...(userData === undefined ? {} : { userData }),
          ...(network.externalNetwork === undefined ? {} : { externalNetwork: network.externalNetwork }),
          ...(podNetwork === "bridge" ? { podCidr } : {}),
          ...(sshPort === undefined ? {} : { sshPort }),
          mark: this.mark,
        },
        this.inCloud,
      );
    });
  }

  private balance(): void {
    if (!this.balancer) return;
    for (const { args, fixedIp } of this.machines)
      if (args.role === "control-plane") this.balancer.add(args.name, fixedIp);
  }
}
