import { isObject } from "../../../lib/json";

/** A resource of a preview, changed or not. */
interface PreviewedResource {
  /** The full type: "openstack:compute/instance:Instance". */
  readonly type: string;
  /** Its inputs in the state; undefined for a new one. */
  readonly before?: Readonly<Record<string, unknown>>;
  /** Its inputs after the run; undefined for one that is deleted. */
  readonly after?: Readonly<Record<string, unknown>>;
}

/** A machine of a cluster, before and after the run. */
interface ClusterMachine {
  readonly name: string;
  readonly role: string;
  readonly pool: string;
  /** Empty when it is not known. */
  readonly zone: string;
  readonly change: "stays" | "joins" | "leaves";
}

/** Nodes that a stack counts but does not name. */
interface NodeCount {
  readonly name: string;
  readonly count: number;
}

/** What a preview says about a stack's cluster. */
interface Topology {
  /** "ssh", "openstack", …; empty for a program that uses none of foresail's components. */
  readonly system: string;
  /** Versions of Kubernetes; an unknown one is not there. */
  readonly version: { readonly from?: string; readonly to?: string };
  readonly machines: readonly ClusterMachine[];
  readonly counts: readonly NodeCount[];
}

type Inputs = Readonly<Record<string, unknown>>;
type Side = "before" | "after";

const ZONE_LABEL = "topology.kubernetes.io/zone";
const COMPONENT = /^foresail:([a-z-]+):/;

/** Returns the system, version and machines of the cluster that a stack's resources describe. */
export function topologyOf(resources: readonly PreviewedResource[]): Topology {
  const rooms = resources.flatMap(({ type }) => COMPONENT.exec(type)?.[1] ?? []);
  const system = rooms.find((room) => room !== "kubeadm") ?? (rooms.length > 0 ? "ssh" : "");
  const of = (side: Side) => resources.map((one) => ({ kind: kindOf(one.type), inputs: one[side] ?? {} }));
  const [before, after] = [of("before"), of("after")];
  const [from, to] = [versionIn(before), versionIn(after)];
  const [old, next] = [machinesIn(before), machinesIn(after)];
  // in a preview of new servers the machines of the cluster are unknown: then they are what the resources name
  const machines = [...new Map([...old, ...next])].map(([name, machine]) => ({
    ...machine,
    change: !next.has(name) ? ("leaves" as const) : old.has(name) ? ("stays" as const) : ("joins" as const),
  }));
  return {
    system,
    version: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
    machines: machines.sort((one, other) => byName(one.name, other.name)),
    counts: countsIn(after),
  };
}

interface Kept {
  readonly kind: string;
  readonly inputs: Inputs;
}

const kindOf = (type: string): string => type.split(":").at(-1) ?? "";
const byName = (one: string, other: string) => one.localeCompare(other, "en", { numeric: true });
const textAt = (value: unknown, ...keys: string[]): string | undefined => {
  const found = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
  return typeof found === "string" ? found : undefined;
};
const entriesOf = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : []);

/** The resources whose input names the version, the most exact one first. */
const VERSIONS: readonly (readonly [kind: string, ...path: string[]])[] = [
  ["NodeRollout", "specification", "version"],
  ["ClusterInit", "specification", "version"],
  ["MachinePoolReady", "version"],
  ["ObjectReady", "values", "values", "kubernetesVersion"],
];

function versionIn(resources: readonly Kept[]): string | undefined {
  for (const [kind, ...path] of VERSIONS)
    for (const { inputs } of resources.filter((one) => one.kind === kind)) {
      const version = textAt(inputs, ...path);
      if (version !== undefined) return version;
    }
  return undefined;
}

function machinesIn(resources: readonly Kept[]): Map<string, Omit<ClusterMachine, "change">> {
  const zones = new Map(
    resources.flatMap(({ kind, inputs }) => {
      const [name, zone] = [textAt(inputs, "name"), zoneOfServer(inputs)];
      return kind === "Instance" && name !== undefined && zone !== undefined ? [[name, zone] as const] : [];
    }),
  );
  const machines = new Map<string, Omit<ClusterMachine, "change">>();
  for (const { kind, inputs } of resources) {
    if (kind !== "NodeGroup" && kind !== "ClusterInit" && kind !== "NodeRollout") continue;
    for (const machine of entriesOf(inputs.machines)) {
      const name = textAt(machine, "name");
      if (name === undefined) continue;
      const zone = textAt(machine, "labels", ZONE_LABEL) ?? zones.get(name) ?? "";
      const pool = textAt(machine, "group") ?? "";
      machines.set(name, { name, role: textAt(machine, "role") ?? "", pool, zone });
    }
  }
  return machines;
}

const zoneOfServer = (inputs: Inputs): string | undefined =>
  textAt(inputs, "availabilityZone") ?? textAt(inputs, "metadata", "foresail-zone");

/** Returns the nodes of Cluster API, which names them itself. */
function countsIn(resources: readonly Kept[]): NodeCount[] {
  return resources.flatMap(({ kind, inputs }): NodeCount[] => {
    const { name, replicas, values } = inputs;
    if (kind === "MachinePoolReady" && typeof replicas === "number")
      return [{ name: typeof name === "string" ? name : "nodes", count: replicas }];
    if (kind !== "Release" || !isObject(values)) return [];
    const groups = [
      {
        name: "control-plane",
        machineCount: isObject(values.controlPlane) && values.controlPlane.machineCount,
      },
      ...entriesOf(values.nodeGroups),
    ];
    return groups.flatMap(({ name, machineCount }: Record<string, unknown>) =>
      typeof name === "string" && typeof machineCount === "number" ? [{ name, count: machineCount }] : [],
    );
  });
}
