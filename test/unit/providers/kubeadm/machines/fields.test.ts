import assert from "node:assert/strict";
import fc from "fast-check";
import { planBatches } from "../../../../../providers/kubeadm/plan/machines/batches";
import {
  shapeDifferences,
  withShapeOf,
  type MachineField,
  type MachineFields,
} from "../../../../../providers/kubeadm/plan/machines/fields";
import {
  desiredMachines,
  MACHINE_FIELDS,
  machineName,
  metadataOf,
  recordOf,
  type MachineShape,
  type Pool,
} from "../../../../../providers/openstack/plan/machine";
import { machineOf } from "../../../../../providers/openstack/plan/recorded-state";
import {
  MACHINE_FIELDS as VM_FIELDS,
  wantedSlots,
  type MachineGroup,
} from "../../../../../providers/tumblebug/plan/groups";

type Extended<Shape> = Shape & { added: unknown };

const field = (value: unknown): MachineField<unknown> => ({
  label: "added field",
  default: value,
  metadata: {
    key: "foresail-added",
    write: (written) => JSON.stringify(written),
    read: (text) => JSON.parse(text) as unknown,
  },
  text: (shown) => JSON.stringify(shown),
});

/** The table with another field at an index. */
function withField<Shape>(fields: MachineFields<Shape>, index: number, added: MachineField<unknown>) {
  const entries = Object.entries(fields);
  entries.splice(index, 0, ["added", added]);
  return Object.fromEntries(entries) as MachineFields<Extended<Shape>>;
}

const value = fc.oneof(fc.boolean(), fc.integer(), fc.string({ minLength: 1 }), fc.array(fc.string()));
const index = fc.integer({ min: 0, max: 6 });
const word = fc.constantFrom("a", "b", "debian-12", "m1.large");

const pool = (name: string, role: Pool["role"], replicas: number) =>
  fc
    .record({ flavor: word, image: word, zones: fc.array(word, { maxLength: 2 }), disk: fc.nat(3) })
    .map(({ disk, ...others }): Pool => ({
      ...others,
      ...{
        name,
        role,
        replicas,
        antiAffinity: "soft",
        labels: {},
        taints: [],
        floatingIp: false,
        replacementsPerRun: 1,
      },
      ...(disk === 0 ? {} : { rootVolume: { sizeGiB: 10 * disk, ...(disk > 1 ? { type: "ssd" } : {}) } }),
    }));
const pools = fc.tuple(pool("cp", "control-plane", 3), pool("w", "worker", 2));

describe("a field that is added to the table of machine fields with a default", () => {
  it("renames and replaces no OpenStack server", () => {
    fc.assert(
      fc.property(pools, value, index, fc.nat(2), (desired, initial, at, replaced) => {
        const fields = withField(MACHINE_FIELDS, at, field(initial));
        const slots = desiredMachines(desired, "10.20.0.0/24", { "w-1": replaced });
        const before = slots.map((slot) =>
          machineOf(MACHINE_FIELDS, "demo", slot, { machines: [], traces: new Set() }),
        );
        const existing = before.map((machine) => {
          const metadata = metadataOf(MACHINE_FIELDS, "demo", machine);
          const record = recordOf(fields, "demo", machine.name, metadata);
          assert.ok(record);
          assert.deepEqual(metadataOf(fields, "demo", record), metadata);
          return { ...record, joined: true };
        });
        const wanted = slots.map(({ replacementsPerRun, shape, ...slot }) => ({
          replacementsPerRun,
          machine: machineOf(
            fields,
            "demo",
            { ...slot, shape: { ...shape, added: initial } },
            { machines: existing, traces: new Set() },
          ),
        }));
        assert.deepEqual(
          wanted.map(({ machine }) => machine.name),
          before.map(({ name }) => name),
        );
        const { now, later } = planBatches(wanted, existing);
        assert.deepEqual([now.changes, later], [[], []]);
      }),
    );
  });

  it("names another server for another value, and keeps that value in its metadata", () => {
    fc.assert(
      fc.property(pools, value, value, index, (desired, initial, other, at) => {
        fc.pre(JSON.stringify(initial) !== JSON.stringify(other));
        const fields = withField(MACHINE_FIELDS, at, field(initial));
        for (const { replacementsPerRun: _, ...slot } of desiredMachines(desired, "10.20.0.0/24")) {
          const shape: Extended<MachineShape> = { ...slot.shape, added: other };
          const name = machineName(fields, "demo", { ...slot, shape }, 1);
          assert.notEqual(name, machineName(MACHINE_FIELDS, "demo", slot, 1));
          const machine = { ...slot, shape, name, incarnation: 1, generation: 1 };
          assert.deepEqual(recordOf(fields, "demo", name, metadataOf(fields, "demo", machine)), machine);
          assert.deepEqual(shapeDifferences(fields, { ...shape, added: initial }, shape), [
            { label: "added field", before: JSON.stringify(initial), after: JSON.stringify(other) },
          ]);
        }
      }),
    );
  });

  it("changes no recorded machine of Tumblebug, and is not a difference", () => {
    const group = fc.record({ connection: word, spec: word, image: word, disk: fc.nat(2) });
    fc.assert(
      fc.property(group, value, index, ({ disk, ...shape }, initial, at) => {
        const fields = withField(VM_FIELDS, at, field(initial));
        const groups: MachineGroup[] = [
          {
            ...{ name: "cp", role: "control-plane", replicas: 3, labels: {}, taints: [], ...shape },
            ...(disk === 0 ? {} : { rootVolume: { sizeGiB: disk } }),
          },
        ];
        for (const recorded of wantedSlots(groups)) {
          const desired = { ...recorded, added: initial };
          const existing = recorded as typeof desired;
          assert.deepEqual(withShapeOf(fields, desired, existing), recorded);
          assert.deepEqual(shapeDifferences(fields, existing, desired), []);
        }
      }),
    );
  });
});
