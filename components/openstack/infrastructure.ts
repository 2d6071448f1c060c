import * as pulumi from "@pulumi/pulumi";
import { Provider } from "@pulumi/openstack/provider";
import { whenMade } from "../../lib/pulumi/left-out";
import type { StateResources } from "../../lib/pulumi/state";
import { laterLines } from "../../lib/steps/steps";
import { desiredMachines, MACHINE_FIELDS, slotOfMachine } from "../../providers/openstack/plan/machine";
import { leavingLaterOf } from "../../providers/kubeadm/plan/machines/batches";
import { pausedRefusals } from "../../providers/kubeadm/plan/validation/rollout";
import { planMachineRollout } from "../../providers/openstack/plan/machine-rollout";
import { inRecordedOrder, machineOf, recordedState } from "../../providers/openstack/plan/recorded-state";
import { unattachedRefusals, unreadableRefusals } from "../../providers/openstack/plan/changed-in-cloud";
import { unknownSlotRefusals } from "../../providers/kubeadm/plan/validation/replaced-machines";
import { networkChangeRefusals } from "../../providers/openstack/plan/requirements";
import { desiredMetadata } from "../../providers/openstack/plan/lost-metadata";
import { providerSettings } from "../../providers/openstack/plan/provider-settings";
import { newObjects, securityGroupName } from "../../providers/openstack/plan/new-objects";
import { SECURITY_GROUPS, securityRules } from "../../providers/openstack/plan/security-rules";
import type { CloudRef } from "../../providers/openstack/plan/cloud-facts";
import { readCloudConfiguration } from "../../providers/openstack/client/cloud-configuration";
import { CloudPlan } from "../../providers/openstack/resources/declarations";
import { readStoppedMachines } from "../../providers/openstack/resources/stopped-machines";
import { podNetworkKind } from "../kubeadm/defaults";
import { wantsCinder } from "./cloud-addons";
import { CloudObjects } from "./cloud-objects";
import { makeMachines } from "./machines";
import { makeApiLoadBalancer, makeNetworks, makeSecurityGroups, networkKey } from "./network";
import type { CheckedOpenstack } from "./openstack-cluster-args";

/** The cloud objects of a cluster; `later` has the remaining changes to machines, one line per later run. */
export type Infrastructure = Awaited<ReturnType<typeof makeInfrastructure>>;

/**
 * Runs the cloud preflight first, then creates networks, security groups, the load balancer and servers.
 *
 * @param existing the stack's state at the start of the run
 */
export async function makeInfrastructure(
  cluster: string,
  args: CheckedOpenstack,
  existing: StateResources,
  parent?: pulumi.Resource,
) {
  const { cloud, region, network, endpoint, access, pools, cloudProvider } = args;
  const state = recordedState(cluster, existing);
  const podNetwork = podNetworkKind(args.cluster);
  const octavia = "octavia" in endpoint ? endpoint.octavia : undefined;
  const key = networkKey(network);
  const slotsWith = (stopped: Readonly<Record<string, string>>) =>
    desiredMachines(pools, key, args.replace, state.machines, (machine) => machine in stopped).map(
      ({ replacementsPerRun, ...slot }) => ({
        machine: machineOf(MACHINE_FIELDS, cluster, slot, state),
        replacementsPerRun,
      }),
    );
  const wanted = new Map(slotsWith({}).map(({ machine }) => [machine.slot, machine.name]));
  const asked = await readStoppedMachines(
    { cloud, region },
    pools,
    state.machines,
    state.serverIds,
    state.machines.flatMap(({ name, slot }) => (wanted.get(slot) === name ? [] : [name])),
  );
  const slots = slotsWith(asked.stopped);
  const rollout = planMachineRollout(slots, state.machines, state.unattached, asked.stopped);
  const { machines, arriving, leaving, lines } = rollout.now;
  const later = laterLines(rollout.later);
  const inUse = machines.map(({ shape }) => shape.network);
  const recorded = state.machines.map(({ shape }) => shape.network);
  const refusals = [
    ...networkChangeRefusals(key, recorded, podNetwork, state.balancerNetwork),
    ...unreadableRefusals(state.unreadable, state.mark),
    ...unattachedRefusals(state.unattached, state.machines),
    ...unknownSlotRefusals(
      "openstack",
      Object.keys(args.replace),
      slots.map(({ machine }) => machine.slot),
    ),
    ...asked.refusals,
    ...pausedRefusals(
      args.cluster.rollout.pausedNodes,
      slots.map(({ machine }) => machine.slot),
      slotOfMachine,
    ),
  ];
  const reached = new Set(pools.flatMap(({ name, floatingIp }) => (floatingIp ? [name] : [])));
  const withFloatingIp = [
    ...machines.flatMap(({ name, pool }) => (reached.has(pool) ? [name] : [])),
    ...(octavia?.floatingIp ? ["api"] : []),
  ];
  const hasOwnCredential = cloudProvider.enabled && cloudProvider.applicationCredential === undefined;
  const rules = securityRules({
    ...access,
    sshPort: args.sshPort,
    podNetwork,
    ...(octavia ? { loadBalancerCidr: network.cidr } : {}),
    ...(cloudProvider.enabled ? { serviceLoadBalancerCidr: network.cidr } : {}),
  });
  const given = parent?.getProvider("openstack:index:Provider") as Provider | undefined;
  const plan = new CloudPlan(
    `${cluster}-cloud`,
    {
      cluster,
      cloud,
      region,
      ...(given && { givenProvider: whereaboutsOf(given) }),
      servers: machines.map(({ name, pool, shape: { network: _, ...shape } }) => ({ name, pool, ...shape })),
      externalNetwork: network.externalNetwork,
      floatingIps: withFloatingIp.filter((name) => !state.floatingIps.has(`${cluster}-${name}`)).length,
      objects: newObjects(
        cluster,
        {
          machines: machines.map(({ name }) => name),
          networks: [key, ...inUse],
          groups: SECURITY_GROUPS,
          rules,
          pools,
          newBalancer: octavia !== undefined && state.balancerNetwork === undefined,
        },
        state,
      ),
      loadBalancer: octavia !== undefined,
      volumes: wantsCinder(cloudProvider) || undefined,
      ownCredential: hasOwnCredential || undefined,
      newCredential: (hasOwnCredential && !state.hasCredential) || undefined,
      refusals: refusals.length > 0 ? refusals : undefined,
      steps: lines,
      arriving,
      leaving,
      later,
      mark: state.mark,
      known: state.objects,
      metadata: desiredMetadata(cluster, machines, state.serverIds, state.mark, state.marked),
      networkObjects: state.networkObjects,
      serverIds: state.serverIds,
      securityGroups: SECURITY_GROUPS.map((group) => securityGroupName(cluster, group)),
    },
    { parent },
  );
  const changesMachines = arriving.length + leaving.length > 0;
  const settings = providerSettings(await endpointsOf({ cloud, region }), state.provider, changesMachines);
  // Our own reads credentials from clouds.yaml or the environment, so the state has none.
  const provider = given ?? new Provider(cluster, { cloud, region, ...settings }, { parent });
  const objects = new CloudObjects(cluster, state.mark ?? plan.mark, { parent, provider, dependsOn: [plan] });
  const externalNetworkId = whenMade(plan.found, (found) => found.externalNetworkId as string);
  const networks = makeNetworks(objects, network, inUse, externalNetworkId);
  const security = makeSecurityGroups(objects, rules);
  const own = networks.get(key);
  const balancer =
    octavia &&
    own &&
    makeApiLoadBalancer(
      objects,
      own,
      inRecordedOrder([...access.api, network.cidr], state.allowedCidrs),
      octavia.floatingIp ? network.externalNetwork : undefined,
    );
  const cloudMachines = makeMachines(objects, args, machines, plan, networks, security);
  for (const { args, fixedIp } of cloudMachines)
    if (args.role === "control-plane") balancer?.add(args.name, fixedIp);
  const leavingLater = leavingLaterOf(rollout);
  const lost = [...state.lost, ...rollout.now.undrained].sort();
  return { plan, objects, balancer, machines: cloudMachines, later, leavingLater, lost };
}

/** Returns what a program's own provider says about its cloud. In a preview, each field that is not set is unknown. */
function whereaboutsOf(given: Provider) {
  const { cloud, region, authUrl, tenantId, tenantName, applicationCredentialId } = given;
  return { cloud, region, authUrl, tenantId, tenantName, applicationCredentialId };
}

/** Returns which endpoints of the cloud foresail calls; undefined where `CloudPlan` refuses its configuration. */
const endpointsOf = (ref: CloudRef): Promise<string | undefined> =>
  readCloudConfiguration(ref).then(
    (configuration) => configuration.interface,
    () => undefined,
  );
