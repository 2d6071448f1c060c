import * as pulumi from "@pulumi/pulumi";
import { Provider } from "@pulumi/openstack/provider";
import { whenMade } from "../../lib/pulumi/left-out";
import { laterLines } from "../../lib/steps/steps";
import { desiredMachines, MACHINE_FIELDS } from "../../providers/openstack/plan/machine";
import { planRollout, type MachineRollout } from "../../providers/openstack/plan/machine-rollout";
import {
  inRecordedOrder,
  machineOf,
  recordedState,
  type RecordedState,
} from "../../providers/openstack/plan/recorded-state";
import { networkChangeRefusals } from "../../providers/openstack/plan/requirements";
import { SECURITY_GROUPS } from "../../providers/openstack/plan/security-rules";
import { CloudPlan } from "../../providers/openstack/resources/cloud-plan";
import { CloudObjects } from "./cloud-objects";
import { makeMachines, type CloudMachine } from "./machines";
import {
  makeApiLoadBalancer,
  makeNetworks,
  makeSecurityGroups,
  networkKey,
  securityGroupName,
  type ApiLoadBalancer,
} from "./network";
import type { InfrastructureArgs } from "./openstack-cluster-args";

/**
 * The cloud objects of a cluster. Runs the cloud preflight first, then creates networks, security groups, the load
 * balancer and servers. This class is not a component: its objects are children of the component that creates it.
 */
export class Infrastructure {
  readonly plan: CloudPlan;
  readonly objects: CloudObjects;
  readonly balancer?: ApiLoadBalancer;
  readonly machines: CloudMachine[];
  /** Remaining changes to machines, one line per later run. */
  readonly later: string[];
  /** Contents of the stack's state when the run began. */
  readonly state: RecordedState;

  private readonly rollout: MachineRollout;

  constructor(
    private readonly cluster: string,
    private readonly args: InfrastructureArgs,
    opts: Pick<pulumi.CustomResourceOptions, "parent"> = {},
  ) {
    const { cloud, region, network, endpoint, access, services } = args;
    this.state = recordedState(cluster, args.existing);
    this.rollout = this.planMachines();
    this.later = laterLines(this.rollout.later);
    const { machines } = this.rollout.now;
    this.plan = this.checkCloud(opts);
    // The provider reads clouds.yaml or the environment, so the state has no credentials.
    const provider = new Provider(cluster, { cloud, region }, opts);
    const inCloud = { ...opts, provider, dependsOn: [this.plan] };
    this.objects = new CloudObjects(cluster, this.state.mark ?? this.plan.mark, inCloud);
    const externalNetworkId = whenMade(this.plan.found, (found) => found.externalNetworkId as string);
    const inUse = machines.map(({ shape }) => shape.network);
    const networks = makeNetworks(this.objects, network, inUse, externalNetworkId);
    const octavia = endpoint && "octavia" in endpoint ? endpoint.octavia : undefined;
    const security = makeSecurityGroups(this.objects, {
      ...access,
      sshPort: args.sshPort,
      podNetwork: args.podNetwork,
      loadBalancerCidr: octavia && network.cidr,
      serviceLoadBalancerCidr: services.loadBalancers ? network.cidr : undefined,
    });
    const own = networks.get(networkKey(network));
    if (octavia && own) {
      const allowedCidrs = inRecordedOrder([...access.api, network.cidr], this.state.allowedCidrs);
      const externalNetwork = octavia.floatingIp ? network.externalNetwork : undefined;
      this.balancer = makeApiLoadBalancer(this.objects, own, allowedCidrs, externalNetwork);
    }
    this.machines = makeMachines(this.objects, args, machines, this.plan, networks, security);
    for (const { args, fixedIp } of this.machines)
      if (args.role === "control-plane") this.balancer?.add(args.name, fixedIp);
  }

  private planMachines(): MachineRollout {
    const slots = desiredMachines(this.args.pools, networkKey(this.args.network), this.args.replace);
    return planRollout(
      slots.map(({ replacementsPerRun, ...slot }) => ({
        machine: machineOf(MACHINE_FIELDS, this.cluster, slot, this.state),
        replacementsPerRun,
      })),
      this.state.machines,
    );
  }

  private checkCloud(opts: pulumi.CustomResourceOptions): CloudPlan {
    const { cloud, region, network, endpoint, podNetwork, services } = this.args;
    const { machines, arriving, leaving, lines } = this.rollout.now;
    const { state, cluster } = this;
    const existing = state.machines.map(({ shape }) => shape.network);
    const refusals = networkChangeRefusals(networkKey(network), existing, podNetwork, state.balancerNetwork);
    return new CloudPlan(
      `${cluster}-cloud`,
      {
        cluster,
        cloud,
        region,
        servers: machines.map(({ name, pool, shape: { network: _, ...shape } }) => ({
          name,
          pool,
          ...shape,
        })),
        externalNetwork: network.externalNetwork,
        floatingIps: this.wantedFloatingIps().filter((name) => !state.floatingIps.has(name)).length,
        loadBalancer: endpoint !== undefined && "octavia" in endpoint,
        volumes: services.volumes || undefined,
        ownCredential: services.ownCredential || undefined,
        newCredential: (services.ownCredential && !state.hasCredential) || undefined,
        refusals: refusals.length > 0 ? refusals : undefined,
        steps: lines,
        arriving,
        leaving,
        later: this.later,
        mark: state.mark,
        known: state.objects,
        securityGroups: SECURITY_GROUPS.map((group) => securityGroupName(cluster, group)),
      },
      opts,
    );
  }

  /** Returns the resource names of all floating IPs that exist after this run. */
  private wantedFloatingIps(): string[] {
    const { pools, endpoint } = this.args;
    const reached = new Set(pools.flatMap(({ name, floatingIp }) => (floatingIp ? [name] : [])));
    const machines = this.rollout.now.machines.filter(({ pool }) => reached.has(pool));
    const balancer = endpoint && "octavia" in endpoint && endpoint.octavia.floatingIp ? ["api"] : [];
    return [...machines.map(({ name }) => name), ...balancer].map((name) => `${this.cluster}-${name}`);
  }
}
