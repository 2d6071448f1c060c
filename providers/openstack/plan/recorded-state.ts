import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/machine";
import { namesIn, type StateResources } from "../../../lib/pulumi/state-resources";
import { machineName } from "./machine-name";
import { newMachine, recordOf, type MachineRecord } from "./machine-record";
import { EXISTING_NETWORK, type NetworkKey, type Slot } from "./pool";

/** A machine whose server is in the state. */
export interface ExistingMachine extends MachineRecord {
  /** Whether the machine is recorded as a Node of the cluster. */
  joined: boolean;
}

/** What the stack's state contains from earlier runs. */
export interface RecordedState {
  machines: ExistingMachine[];
  /** Nodes of the cluster whose servers are no longer in the state, because a refresh found them deleted. */
  lost: string[];
  /** Ids of all cloud objects in the state. */
  objects: string[];
  /** Owner tag of the cluster's cloud objects; absent before the first run. */
  mark?: string;
  /** Whether the state has the application credential of the cloud provider in the cluster. */
  hasCredential: boolean;
  /** Resource names of the floating IPs in the state. */
  floatingIps: ReadonlySet<string>;
  /** CIDR blocks that may connect to the API's load balancer, in the cloud's order. */
  allowedCidrs: readonly string[];
  /** Network of the address of the API's load balancer. */
  balancerNetwork?: NetworkKey;
  /** Machine names that the state still refers to; new machines can't use them. */
  traces: ReadonlySet<string>;
}

const INSTANCE = "openstack:compute/instance:Instance";
const LOAD_BALANCER = "openstack:loadbalancer/loadBalancer:LoadBalancer";
const SUBNET = "openstack:networking/subnet:Subnet";
const LISTENER = "openstack:loadbalancer/listener:Listener";
const CREDENTIAL = "openstack:identity/applicationCredential:ApplicationCredential";
const FLOATING_IP = "openstack:networking/floatingIp:FloatingIp";
const CLOUD_PLAN = "pulumi-nodejs:dynamic/foresail:CloudPlan";
const NODE_GROUP = "pulumi-nodejs:dynamic/foresail:NodeGroup";
const CLUSTER_INIT = "pulumi-nodejs:dynamic/foresail:ClusterInit";
const COMMAND = "command:remote:Command";

/** Reads the machines and cloud objects of a cluster from a stack's state. */
export function recordedState(cluster: string, resources: StateResources): RecordedState {
  const entries = Object.entries(resources).map(([urn, { type, outputs = {} }]) => ({
    name: urn.split("::").at(-1) ?? "",
    type,
    outputs,
  }));
  const servers = entries
    .filter(({ type }) => type === INSTANCE)
    .flatMap(({ outputs }) => {
      const { name, metadata } = outputs;
      if (typeof name !== "string" || typeof metadata !== "object" || metadata === null) return [];
      return recordOf(cluster, name, metadata as Record<string, unknown>) ?? [];
    });
  const groups = entries.filter(({ type, name }) => type === NODE_GROUP && name.startsWith(`${cluster}-`));
  const joined = new Set(groups.flatMap(({ outputs }) => namesIn(outputs.nodes)));
  // After a failure, the members include machines that have not joined.
  const members = new Set([...joined, ...groups.flatMap(({ outputs }) => namesIn(outputs.members))]);
  // If a run was interrupted between init and the record of members, any control plane may be a member.
  const isUnrecorded =
    entries.some(({ type, name }) => type === CLUSTER_INIT && name === `${cluster}-init`) &&
    !groups.some(({ name }) => name === `${cluster}-${CONTROL_PLANE_GROUP}`);
  const present = new Set(servers.map(({ name }) => name));
  const prepared = entries
    .filter(({ type }) => type === COMMAND)
    .flatMap(({ name }) => {
      const [, machine] = /^(.+)-prepare(?:-.*)?$/.exec(name.slice(cluster.length + 1)) ?? [];
      return name.startsWith(`${cluster}-`) && machine !== undefined ? [machine] : [];
    });
  return {
    machines: servers.map((server) => ({
      ...server,
      joined: joined.has(server.name) || (isUnrecorded && server.shape.role === "control-plane"),
    })),
    lost: [...members].filter((name) => !present.has(name)).sort(),
    objects: entries
      .flatMap(({ type, outputs: { id } }) =>
        String(type).startsWith("openstack:") && typeof id === "string" ? [id] : [],
      )
      .sort(),
    hasCredential: entries.some(
      ({ type, name }) => type === CREDENTIAL && name === `${cluster}-cloud-provider`,
    ),
    floatingIps: new Set(entries.flatMap(({ type, name }) => (type === FLOATING_IP ? [name] : []))),
    allowedCidrs: textsOf(
      entries.find(({ type, name }) => type === LISTENER && name === `${cluster}-api`)?.outputs.allowedCidrs,
    ),
    ...balancerNetwork(cluster, entries),
    ...markOf(
      entries.find(({ type, outputs }) => type === CLOUD_PLAN && outputs.cluster === cluster)?.outputs,
    ),
    traces: new Set([...prepared, ...members]),
  };
}

/** Returns the network of the API's load balancer: the CIDR block of the stack's own network, or another one's id. */
function balancerNetwork(
  cluster: string,
  entries: readonly { name: string; type: unknown; outputs: Readonly<Record<string, unknown>> }[],
): { balancerNetwork?: NetworkKey } {
  const balancer = entries.find(({ type, name }) => type === LOAD_BALANCER && name === `${cluster}-api`);
  if (!balancer) return {};
  const { vipSubnetId, vipNetworkId } = balancer.outputs;
  const own = entries.find(({ type, outputs }) => type === SUBNET && outputs.id === vipSubnetId)?.outputs
    .cidr;
  if (typeof own === "string") return { balancerNetwork: own };
  return typeof vipNetworkId === "string" ? { balancerNetwork: `${EXISTING_NETWORK}${vipNetworkId}` } : {};
}

function markOf(plan: Readonly<Record<string, unknown>> = {}): { mark?: string } {
  return typeof plan.mark === "string" ? { mark: plan.mark } : {};
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/**
 * Returns the desired machine of a slot: an existing one that matches, or a new one with a name that was never used.
 * So a deleted server is replaced by a machine with another name, and the cluster removes the lost Node.
 */
export function wantedMachine(cluster: string, slot: Slot, state: RecordedState): MachineRecord {
  const own = state.machines.filter((machine) => machine.slot === slot.name);
  const fitting = own.find(
    ({ name, incarnation }) => name === machineName(cluster, slot.name, slot.shape, incarnation),
  );
  if (fitting) return fitting;
  const generation = 1 + Math.max(0, ...own.map((machine) => machine.generation));
  for (let incarnation = 1; ; incarnation++) {
    const machine = newMachine(cluster, slot, incarnation, generation);
    if (!state.traces.has(machine.name)) return machine;
  }
}
