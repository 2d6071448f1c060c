import assert from "node:assert/strict";
import {
  changedMetadata,
  desiredMetadata,
  hasItsName,
  rememberedMachine,
} from "../../../../providers/openstack/plan/lost-metadata";
import {
  MACHINE_FIELDS,
  machineName,
  metadataOf,
  type MachineRecord,
} from "../../../../providers/openstack/plan/machine";

describe("metadata of servers that someone removed in the cloud", () => {
  const machine = (over: Partial<MachineRecord> = {}): MachineRecord => {
    const spec = {
      ...{ slot: "w-1", pool: "w", role: "worker" as const, replace: 0, incarnation: 1, generation: 1 },
      shape: { image: "debian", flavor: "m1", network: "10.20.0.0/24" },
      ...over,
    };
    return { ...spec, name: machineName(MACHINE_FIELDS, "demo", spec, spec.incarnation) };
  };
  const planned = ({ name, pool, shape: { network: _, ...shape } }: MachineRecord) => ({
    name,
    pool,
    ...shape,
  });
  const networks = ["10.30.0.0/24", "10.20.0.0/24", "id:n1"];

  const machines: [what: string, machine: MachineRecord][] = [
    ["a worker", machine()],
    ["a control plane", machine({ slot: "cp-1", pool: "cp", role: "control-plane" })],
    ["a machine that was replaced on request", machine({ replace: 3 })],
    ["the successor of lost machines", machine({ incarnation: 2, replace: 1 })],
    [
      "a machine with a root volume in a zone of another network",
      machine({
        shape: {
          ...{ image: "debian", flavor: "m1", network: "id:n1", zone: "a" },
          rootVolume: { size: 40, type: "ssd" },
        },
      }),
    ],
  ];
  for (const [what, one] of machines)
    it(`finds ${what} by what the last plan recorded and by its name`, () => {
      assert.ok(hasItsName("demo", one));
      assert.deepEqual(rememberedMachine("demo", one.name, {}, [planned(one)], networks), one);
    });

  it("keeps the generation that the server still has", () => {
    const found = rememberedMachine(
      "demo",
      machine().name,
      { "foresail-generation": "3" },
      [planned(machine())],
      networks,
    );
    assert.deepEqual(found, { ...machine(), generation: 3 });
  });

  const unknown: [what: string, servers: unknown, name: string][] = [
    ["a machine that the last plan did not have", [], machine().name],
    ["a plan of which nothing is recorded", undefined, machine().name],
    [
      "a machine of another image than the name says",
      [{ ...planned(machine()), image: "other" }],
      machine().name,
    ],
  ];
  for (const [what, servers, name] of unknown)
    it(`finds nothing for ${what}`, () =>
      assert.equal(rememberedMachine("demo", name, {}, servers, networks), undefined));

  it("does not take a machine with the properties of another for itself", () => {
    const shape = { ...machine().shape, flavor: "m2" };
    assert.equal(hasItsName("demo", { ...machine(), shape }), false);
  });

  const one = machine();
  const [desired] = desiredMetadata("demo", [one], { [one.name]: "s1" }, "beef", { [one.name]: "s1" });
  const whole = desired!.metadata;

  it("has the owner's mark, and the ready tag of a server that got it", () => {
    assert.deepEqual(whole, {
      ...metadataOf(MACHINE_FIELDS, "demo", one),
      "foresail-mark": "beef",
      "foresail-initialized": "true",
    });
    const [other] = desiredMetadata("demo", [one], { [one.name]: "s2" }, undefined, { [one.name]: "s1" });
    assert.deepEqual(other!.metadata, metadataOf(MACHINE_FIELDS, "demo", one));
    assert.deepEqual(desiredMetadata("demo", [one], {}, "beef", {}), []);
  });

  const { "foresail-slot": _slot, ...withoutSlot } = whole;
  const { "foresail-generation": _generation, "foresail-replace": _replace, ...ofEarlierRelease } = whole;
  const found: [what: string, metadata: Record<string, string> | undefined, restored: object | undefined][] =
    [
      ["all of it", whole, undefined],
      ["more than that", { ...whole, owner: "ops" }, undefined],
      ["what an earlier release wrote", ofEarlierRelease, undefined],
      ["a key less", withoutSlot, { "foresail-slot": "w-1" }],
      ["another value", { ...whole, "foresail-flavor": "m9" }, { "foresail-flavor": "m1" }],
      ["nothing", {}, withoutDefaults(whole)],
      ["no server", undefined, undefined],
    ];
  for (const [what, metadata, restored] of found)
    it(`restores ${restored ? "what is missing" : "nothing"} where the cloud has ${what}`, () =>
      assert.deepEqual(
        changedMetadata([desired!], { [one.name]: metadata }),
        restored ? [{ machine: one.name, server: "s1", metadata: restored }] : [],
      ));
});

function withoutDefaults(metadata: Readonly<Record<string, string>>) {
  const isDefault = (key: string) => /-(replace|incarnation|generation)$/.test(key);
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isDefault(key)));
}
