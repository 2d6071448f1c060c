import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/machine";
import { namesIn, type StateResources } from "../../../lib/pulumi/state-resources";
import { machineName } from "./machine-name";
import { newMachine, recordOf, type MachineRecord } from "./machine-record";
import { EXISTING_NETWORK, type NetworkKey, type Slot } from "./pool";

/** A machine whose server is in the state. */
export interface ExistingMachine extends MachineRecord {
  /** The cluster has had it as a Node. */
  joined: boolean;
}

/** What an earlier run left. */
export interface RecordedState {
  machines: ExistingMachine[];
  /** Nodes of the cluster whose servers the state no longer has: somebody deleted them, and a refresh has seen it. */
  lost: string[];
  /** Ids of all the cloud's objects that the state has. */
  objects: string[];
  /** What the cluster's objects carry in the cloud; absent before the first run has begun. */
  mark?: string;
  /** Whether the state has the application credential of what runs in the cluster. */
  hasCredential: boolean;
  /** Names of the floating IPs that the state has. */
  floatingIps: ReadonlySet<string>;
  /** Blocks that the API's load balancer lets in, in the cloud's order. */
  allowedCidrs: readonly string[];
  /** Where the API's load balancer has its address. */
  balancerNetwork?: NetworkKey;
  /** Names that were in use once and still leave a trace, so that no other machine may take them. */
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

/** Reads which machines of a cluster a stack's state has. */
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
  // after a failure the members have machines among them that never came so far
  const members = new Set([...joined, ...groups.flatMap(({ outputs }) => namesIn(outputs.members))]);
  // cut off between init and the record of its members, any control plane may be one
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

/** A network of the stack's own is known by its block, any other by its id. */
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
 * The machine that a slot's wish means: one that exists and is as wished, or a new one under a name that nobody has
 * had. So a server that somebody deleted comes back as another machine, and the cluster forgets the lost one.
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
