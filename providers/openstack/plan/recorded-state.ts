import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/cluster/machine";
import type { Existing } from "../../kubeadm/plan/machines/batches";
import type { RecordedObject } from "./cloud-facts";
import type { MachineFields } from "../../kubeadm/plan/machines/fields";
import { recordedGroup } from "../../kubeadm/plan/machines/slots";
import { hasItsName, rememberedMachine } from "./lost-metadata";
import { RecordedResources, type Outputs, type StateResources } from "../../../lib/pulumi/state";
import {
  EXISTING_NETWORK,
  MACHINE_FIELDS,
  machineName,
  recordOf,
  type MachineRecord,
  type MachineShape,
  type NetworkKey,
  type SlotSpec,
} from "./machine";
import {
  apiBalancerResource,
  groupResource,
  initResource,
  preparedMachine,
} from "../../kubeadm/plan/cluster/resource-names";

/** Name of the resources that give the cloud provider in the cluster its access. */
export const cloudProviderResource = (cluster: string): string => `${cluster}-cloud-provider`;

/** Reads what a stack's state contains from earlier runs: the machines and cloud objects of a cluster. */
export function recordedState(cluster: string, resources: StateResources) {
  const state = new RecordedResources(resources);
  const { mark, servers: planned } =
    state.of("CloudPlan").find(({ outputs }) => outputs.cluster === cluster)?.outputs ?? {};
  const networks = networksOf(state);
  const machineOfServer = (name: string, metadata: Readonly<Record<string, unknown>>) => {
    const { "foresail-cluster": owner = cluster } = metadata;
    const record = recordOf(MACHINE_FIELDS, cluster, name, metadata);
    if (owner !== cluster || (record !== undefined && hasItsName(cluster, record))) return record;
    return rememberedMachine(cluster, name, metadata, planned, networks) ?? record;
  };
  const found = state
    .of("openstack:compute/instance:Instance")
    .filter(({ name }) => name.startsWith(`${cluster}-`))
    .map(({ name: resource, outputs }) => {
      // The server's own name is not its identity: anyone may rename it, and a refresh records the new name.
      const name = resource.slice(cluster.length + 1);
      const metadata = Object(outputs.metadata) as Readonly<Record<string, unknown>>;
      return { name, outputs, metadata, record: machineOfServer(name, metadata) };
    });
  const ports = new Map(
    state.of("openstack:networking/port:Port").map(({ name, outputs }) => [name, outputs]),
  );
  const isAttached = ({ name, outputs }: (typeof found)[number]) =>
    hasItsPort(outputs, ports.get(`${cluster}-${name}`));
  const recordsOf = (machines: typeof found) => machines.flatMap(({ record }) => record ?? []);
  const servers = recordsOf(found.filter(isAttached));
  const groups = state
    .of("NodeGroup")
    .filter(({ name }) => name.startsWith(`${cluster}-`))
    .map(({ outputs }) => recordedGroup(outputs));
  const joined = new Set(groups.flatMap((group) => group.joined));
  const members = new Set([...joined, ...groups.flatMap((group) => group.members)]);
  // If a run was interrupted between init and the record of members, any control plane may be a member.
  const isUnrecorded =
    state.outputs("ClusterInit", initResource(cluster)) !== undefined &&
    state.outputs("NodeGroup", groupResource(cluster, CONTROL_PLANE_GROUP)) === undefined;
  const present = new Set(servers.map(({ name }) => name));
  const prepared = state
    .of("command:remote:Command")
    .flatMap(({ name }) => preparedMachine(cluster, name) ?? []);
  const { allowedCidrs } =
    state.outputs("openstack:loadbalancer/listener:Listener", apiBalancerResource(cluster)) ?? {};
  const credentials = state.of("openstack:identity/applicationCredential:ApplicationCredential");
  const machines = servers.map((server): Existing<MachineRecord> => {
    return {
      ...server,
      joined: joined.has(server.name) || (isUnrecorded && server.role === "control-plane"),
    };
  });
  return {
    machines,
    /** Machines whose server is there, and whose port a refresh found deleted. */
    unattached: recordsOf(found.filter((machine) => !isAttached(machine))),
    inWordsOf: (name: string, shape: MachineShape) => {
      const { record, outputs = {} } = found.find((machine) => machine.name === name) ?? {};
      return record === undefined ? shape : withWordsOf(record.shape, shape, synonymsOf(outputs));
    },
    /** Machine name → id of its server. */
    serverIds: Object.fromEntries(
      found.flatMap(({ name, record, outputs: { id } }) =>
        record === undefined ? [] : strings([id]).map((server) => [name, server]),
      ),
    ),
    /** Machine name → id of the server that has got the ready tag. */
    marked: Object(
      state.of("InitializedMark").find(({ name }) => name === `${cluster}-initialized`)?.outputs.marked,
    ) as Readonly<Record<string, unknown>>,
    /** Machines whose metadata in the cloud no longer says what they are, and that the last plan did not have. */
    unreadable: found.flatMap(({ name, metadata, record }) => {
      const { "foresail-cluster": owner = cluster } = metadata;
      return record === undefined && owner === cluster && IS_MACHINE.test(name) ? [name] : [];
    }),
    /** Nodes of the cluster whose servers or ports are no longer in the state, because a refresh found them deleted. */
    lost: [...members].filter((name) => !present.has(name)).sort(),
    /** Objects of Neutron in the state, which someone may have deleted in the cloud. */
    networkObjects: state.all.flatMap(({ name, type, outputs: { id } }): RecordedObject[] => {
      const kind = NEUTRON_TYPES[type];
      return kind === undefined ? [] : strings([id]).map((each) => ({ kind, name, id: each }));
    }),
    /** Ids of all cloud objects in the state. */
    objects: state.all
      .flatMap(({ type, outputs: { id } }) => (type.startsWith("openstack:") ? strings([id]) : []))
      .sort(),
    /** Whether the state has the application credential of the cloud provider in the cluster. */
    hasCredential: credentials.some(({ name }) => name === cloudProviderResource(cluster)),
    /** Resource names of the server groups in the state. */
    serverGroups: new Set(state.of("openstack:compute/serverGroup:ServerGroup").map(({ name }) => name)),
    /** Resource names of the floating IPs in the state. */
    floatingIps: new Set(state.of("openstack:networking/floatingIp:FloatingIp").map(({ name }) => name)),
    /** CIDR blocks that may connect to the API's load balancer, in the cloud's order. */
    allowedCidrs: strings(allowedCidrs),
    /** Network of the address of the API's load balancer. */
    balancerNetwork: balancerNetwork(cluster, state),
    /** What Pulumi's OpenStack provider was given; absent before the first run. */
    provider: state.outputs("pulumi:providers:openstack", cluster),
    /** Owner tag of the cluster's cloud objects; absent before the first run. */
    mark: strings([mark])[0],
    /** Machine names that the state still refers to; new machines can't use them. */
    traces: new Set([...prepared, ...members]),
  };
}

/** Returns the networks that machines of the state may be in: those of its subnets, and those of its ports. */
function networksOf(state: RecordedResources): NetworkKey[] {
  const blocks = state.of("openstack:networking/subnet:Subnet").map(({ outputs }) => outputs.cidr);
  const ids = new Set(
    strings(state.of("openstack:networking/port:Port").map(({ outputs }) => outputs.networkId)),
  );
  return [...strings(blocks), ...[...ids].map((id) => `${EXISTING_NETWORK}${id}`)];
}

/** Types of the state → kinds of objects. An interface of a router is a port. */
const NEUTRON_TYPES: Readonly<Record<string, RecordedObject["kind"]>> = {
  "openstack:networking/port:Port": "port",
  "openstack:networking/floatingIp:FloatingIp": "floating IP",
  "openstack:networking/network:Network": "network",
  "openstack:networking/subnet:Subnet": "subnet",
  "openstack:networking/router:Router": "router",
  "openstack:networking/routerInterface:RouterInterface": "port",
  "openstack:networking/secGroup:SecGroup": "security group",
  "openstack:networking/secGroupRule:SecGroupRule": "security group rule",
};

/**
 * Returns whether a server still has the port of its machine. A port that an earlier run made in place of a deleted one
 * is not the port with which the server was made, and serves no server.
 */
function hasItsPort(server: Outputs, port: Outputs | undefined): boolean {
  if (port === undefined) return false;
  const [first] = Array.isArray(server.networks) ? (server.networks as { port?: unknown }[]) : [];
  return !first?.port || first.port === port.id || port.deviceId === server.id;
}

/** The name of a machine: pool, index and hash. */
const IS_MACHINE = /^[a-z0-9-]+-[0-9]+-[0-9a-z]{5,}$/;

/** Returns the strings in a recorded list. */
const strings = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [];

/** Ids and names that mean the image or flavor of a server. */
type Synonyms = Readonly<Record<"image" | "flavor", readonly string[]>>;

/** Returns what the state calls a server's image and flavor; a server on a root volume has its image there. */
function synonymsOf({ imageId, imageName, blockDevices, flavorId, flavorName }: Outputs): Synonyms {
  const [volume] = Array.isArray(blockDevices) ? (blockDevices as { uuid?: unknown }[]) : [];
  return {
    image: volume === undefined ? strings([imageId, imageName]) : strings([volume.uuid]),
    flavor: strings([flavorId, flavorName]),
  };
}

/** Returns the network of the API's load balancer: the CIDR block of the stack's own network, or another one's id. */
function balancerNetwork(cluster: string, state: RecordedResources): NetworkKey | undefined {
  const type = "openstack:loadbalancer/loadBalancer:LoadBalancer";
  const { vipSubnetId, vipNetworkId } = state.outputs(type, apiBalancerResource(cluster)) ?? {};
  const subnets = state.of("openstack:networking/subnet:Subnet");
  const own = vipSubnetId && subnets.find(({ outputs }) => outputs.id === vipSubnetId)?.outputs.cidr;
  const other = typeof vipNetworkId === "string" ? `${EXISTING_NETWORK}${vipNetworkId}` : undefined;
  return typeof own === "string" ? own : other;
}

/**
 * Returns the values in the recorded order if both lists have the same values, or else sorted. Octavia stores a
 * listener's CIDR blocks as a set and the Pulumi provider compares lists, so another order would show up as a change
 * in every run.
 */
export function inRecordedOrder(values: readonly string[], recorded: readonly string[]): string[] {
  const sorted = [...new Set(values)].sort();
  const isSame = JSON.stringify([...recorded].sort()) === JSON.stringify(sorted);
  return isSame ? [...recorded] : sorted;
}

/**
 * Returns a desired shape in the words of a recorded one, where both mean the same image or flavor. So the id of an
 * image instead of its name changes no machine.
 */
function withWordsOf(
  { image, flavor }: MachineShape,
  desired: MachineShape,
  synonyms: Synonyms,
): MachineShape {
  return {
    ...desired,
    ...(synonyms.image.includes(desired.image) ? { image } : {}),
    ...(synonyms.flavor.includes(desired.flavor) ? { flavor } : {}),
  };
}

/** What a slot's machine is chosen from. */
interface RecordedMachines<Shape> {
  machines: readonly MachineRecord<Shape>[];
  traces: ReadonlySet<string>;
  /** Returns a shape in the words of a recorded machine. @default the shape as it is */
  inWordsOf?: (machine: string, shape: Shape) => Shape;
}

/**
 * Returns the machine of a slot: an existing one that has the desired properties, or a new one with a name that was
 * never used. So a deleted server is replaced by a machine with another name, and the cluster removes the lost Node.
 */
export function machineOf<Shape extends object>(
  fields: MachineFields<Shape>,
  cluster: string,
  { slot, pool, role, shape, replace }: SlotSpec<Shape>,
  { machines, traces, inWordsOf = (_machine, words) => words }: RecordedMachines<Shape>,
): MachineRecord<Shape> {
  const desired = { slot, pool, role, shape, replace };
  const own = machines.filter((machine) => machine.slot === slot);
  const name = (incarnation: number, words = shape) =>
    machineName(fields, cluster, { ...desired, shape: words }, incarnation);
  const fitting = own.find(
    (machine) => machine.name === name(machine.incarnation, inWordsOf(machine.name, shape)),
  );
  if (fitting) return fitting;
  const generation = 1 + Math.max(0, ...own.map((machine) => machine.generation));
  let incarnation = 1;
  while (traces.has(name(incarnation))) incarnation++;
  return { ...desired, name: name(incarnation), incarnation, generation };
}
