import type { Role } from "../../../../../providers/kubeadm/plan/cluster/machine";
import {
  desiredMachines,
  MACHINE_FIELDS,
  metadataOf,
  type Pool,
} from "../../../../../providers/openstack/plan/machine";
import { planMachineRollout } from "../../../../../providers/openstack/plan/machine-rollout";
import { machineOf, recordedState } from "../../../../../providers/openstack/plan/recorded-state";
import { wantedSlots as wantedVms, type MachineGroup } from "../../../../../providers/tumblebug/plan/groups";
import { planBatch } from "../../../../../providers/tumblebug/plan/machine-batch";
import { recordedCluster } from "../../../../../providers/tumblebug/plan/recorded-state";
import type { StateResource } from "../../../../../lib/pulumi/state";

/** Random choices that are reproducible for the same seed. */
class Choices {
  constructor(private seed: number) {}

  /** @returns a whole number from 0 to `below` - 1 */
  number(below: number): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.seed / 2 ** 32) * below);
  }

  one<T>(values: readonly T[]): T {
    return values[this.number(values.length)] as T;
  }

  /** Whether something with this probability in percent happens. */
  happens(percent: number): boolean {
    return this.number(100) < percent;
  }
}

const DYNAMIC = "pulumi-nodejs:dynamic/foresail:";
const RUNS = 6;

/** One run: what the planner decided, and the words of its preview. */
export interface HistoryRun {
  decisions: unknown;
  words: string[];
}

interface Server {
  name: string;
  metadata: Record<string, string>;
  joined: boolean;
}

function openstackPools(choices: Choices): Pool[] {
  const pool = (name: string, role: Role, replicas: number): Pool => ({
    ...{ name, role, replicas, labels: {}, taints: [], floatingIp: false, antiAffinity: "soft" },
    flavor: choices.one(["m1", "m1", "m2"]),
    image: choices.one(["debian-12", "debian-12", "debian-13"]),
    zones: choices.one([[], [], ["a", "b"]]),
    replacementsPerRun: 1 + choices.number(2),
    ...choices.one([{}, {}, { rootVolume: { sizeGiB: 20 } }, { rootVolume: { sizeGiB: 30, type: "ssd" } }]),
  });
  const workers = [
    pool("w", "worker", choices.number(4)),
    ...(choices.happens(50) ? [pool("v", "worker", choices.number(3))] : []),
  ];
  return [...workers, pool("cp", "control-plane", choices.one([1, 3]))];
}

/** Six runs of an OpenStack cluster whose configuration changes in between; some runs are cut off, some servers lost. */
export function openstackHistory(seed: number): HistoryRun[] {
  const choices = new Choices(seed);
  let servers: Server[] = [];
  let pools = openstackPools(choices);
  let network = "10.20.0.0/24";
  const replace: Record<string, number> = {};
  return Array.from({ length: RUNS }, () => {
    if (choices.happens(50)) pools = openstackPools(choices);
    if (choices.happens(20)) network = choices.one(["10.20.0.0/24", "10.30.0.0/24", "id:5f0c"]);
    if (choices.happens(30)) replace[choices.one(["w-1", "cp-1"])] = 1 + choices.number(2);
    const nodes = servers.filter(({ joined }) => joined).map(({ name }) => ({ name }));
    const instances = servers.flatMap(({ name, metadata }): [string, StateResource][] => [
      [
        `urn:pulumi:test::foresail::openstack:compute/instance:Instance::demo-${name}`,
        { type: "openstack:compute/instance:Instance", outputs: { name, metadata } },
      ],
      [
        `urn:pulumi:test::foresail::openstack:networking/port:Port::demo-${name}`,
        { type: "openstack:networking/port:Port", outputs: {} },
      ],
    ]);
    const state = recordedState("demo", {
      ...Object.fromEntries(instances),
      "urn:pulumi:test::foresail::x::demo-control-plane": {
        type: `${DYNAMIC}NodeGroup`,
        outputs: { nodes, members: choices.happens(20) ? [...nodes, { name: "w-1-lost1" }] : nodes },
      },
    });
    const wanted = desiredMachines(pools, network, replace).map(({ replacementsPerRun, ...slot }) => ({
      machine: machineOf(MACHINE_FIELDS, "demo", slot, state),
      replacementsPerRun,
    }));
    const { now, later } = planMachineRollout(wanted, state.machines);
    const isCut = choices.happens(30);
    const before = new Map(servers.map((server) => [server.name, server]));
    servers = now.machines.flatMap((machine) => {
      const known = before.get(machine.name);
      if (choices.happens(5) || (isCut && !known && choices.happens(50))) return [];
      const joined = !isCut || (known?.joined ?? choices.happens(50));
      return [
        {
          name: machine.name,
          metadata: known?.metadata ?? metadataOf(MACHINE_FIELDS, "demo", machine),
          joined,
        },
      ];
    });
    const named = [now, ...later].map(({ machines, arriving, leaving }) => ({
      machines: machines.map(({ name, generation, incarnation }) => `${name} ${generation} ${incarnation}`),
      arriving,
      leaving,
    }));
    return {
      decisions: { lost: state.lost, runs: named, metadata: servers.map(({ metadata }) => metadata) },
      words: [now, ...later].flatMap(({ lines }) => lines),
    };
  });
}

function tumblebugGroups(choices: Choices): MachineGroup[] {
  const group = (name: string, role: Role, replicas: number): MachineGroup => ({
    ...{ name, role, replicas, labels: {}, taints: [] },
    connection: choices.one(["aws", "aws", "gcp"]),
    spec: choices.one(["t3.medium", "t3.large"]),
    image: choices.one(["ami-1", "ami-1", "ami-2"]),
    ...choices.one([{}, {}, { rootVolume: { sizeGiB: 50 } }, { rootVolume: { type: "gp3", sizeGiB: 20 } }]),
  });
  return [group("w", "worker", choices.number(3)), group("cp", "control-plane", choices.one([1, 3, 5]))];
}

/** Six runs of a Tumblebug cluster whose configuration changes in between; some runs are cut off, some VMs lost. */
export function tumblebugHistory(seed: number): HistoryRun[] {
  const choices = new Choices(seed);
  let groups = tumblebugGroups(choices);
  const replace: Record<string, number> = {};
  let outputs = { slots: [] as unknown[], vms: {} as Record<string, object> };
  let planes = { members: [] as string[], machines: [] as string[], nodes: [] as string[] };
  const named = (names: readonly string[]) => names.map((name) => ({ name }));
  return Array.from({ length: RUNS }, () => {
    if (choices.happens(60)) groups = tumblebugGroups(choices);
    if (choices.happens(40)) replace[choices.one(["w-1", "cp-1", "cp-2"])] = 1 + choices.number(2);
    const recorded = recordedCluster("demo", {
      "urn:pulumi:test::foresail::x::demo-plan": {
        type: `${DYNAMIC}TumblebugPlan`,
        outputs: { mark: "0123" },
      },
      "urn:pulumi:test::foresail::x::demo-machines": { type: `${DYNAMIC}TumblebugMcis`, outputs },
      "urn:pulumi:test::foresail::x::demo-control-plane": {
        type: `${DYNAMIC}NodeGroup`,
        outputs: {
          members: named(planes.members),
          machines: named(planes.machines),
          nodes: named(planes.nodes),
        },
      },
    });
    const lost = choices.happens(20)
      ? [choices.one(planes.members.length > 0 ? planes.members : ["cp-9"])]
      : [];
    const batch = planBatch(wantedVms(groups, replace), recorded, lost);
    const { slots, leaving, steps, later, remarks } = batch;
    const isCut = choices.happens(30);
    outputs = {
      slots,
      vms: Object.fromEntries(
        slots.flatMap(({ machine }) =>
          choices.happens(isCut ? 70 : 95) ? [[machine, { vm: machine }]] : [],
        ),
      ),
    };
    const kept = slots.filter(({ role }) => role === "control-plane").map(({ machine }) => machine);
    const members = [...kept, ...(isCut ? leaving.filter(() => choices.happens(50)) : [])];
    planes = {
      members,
      machines: kept,
      nodes: members.filter(() => !isCut || choices.happens(70)),
    };
    return {
      decisions: { lost, slots, leaving, later: later.length },
      words: [...steps, ...later, ...remarks],
    };
  });
}
