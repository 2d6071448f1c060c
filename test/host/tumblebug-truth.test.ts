import assert from "node:assert/strict";
import fc from "fast-check";
import type { Slot } from "../../providers/tumblebug/plan/groups";
import { keptOf, ProviderHost } from "./provider-host";
import { createOn, OBJECTS, slot, TumblebugFixture, type TestedGeneration } from "./tumblebug-fixture";

/** How many stacks are drawn a generation. `FORESAIL_SCENARIOS=100 npm run test:host` draws a hundred. */
const SCENARIOS = Number(process.env.FORESAIL_SCENARIOS ?? 4);
const SEED = Number(process.env.FORESAIL_SEED ?? 1);
const SECONDS_FOR_ONE = 60;
const KEY = "tumblebug/TumblebugMcis";

type Outputs = Record<string, unknown>;

/** One run: the machines that are wanted, those whose VMs the cloud fails to create, and whether leaving machines are removed after it. */
interface Run {
  planes: number;
  workers: string[];
  failing: string[];
  letGo: boolean;
}

const worker = fc.constantFrom("w-1", "w-2", "w-3", "x-1", "x-1-r1");
const runs: fc.Arbitrary<Run[]> = fc.array(
  fc.record({
    planes: fc.constantFrom(1, 1, 3),
    workers: fc.uniqueArray(worker, { maxLength: 3 }),
    failing: fc.array(fc.oneof(worker, fc.constant("cp-2")), { maxLength: 1 }),
    letGo: fc.boolean(),
  }),
  { minLength: 2, maxLength: 4 },
);

describe("the truth of a preview of Tumblebug's VMs, by the server's record", function () {
  this.timeout(SCENARIOS * SECONDS_FOR_ONE * 1000);
  let host: ProviderHost;
  before(async () => {
    host = await ProviderHost.inClone();
  });
  after(() => host?.stop());

  for (const generation of ["mcis", "infra"] as TestedGeneration[])
    describe(`of the generation ${generation}`, () => {
      let fixture: TumblebugFixture;
      before(async () => {
        fixture = await TumblebugFixture.start(generation);
        for (const [of, , name, own] of OBJECTS) await createOn(host, of, fixture.object(name, own));
      });
      after(() => fixture.stop());

      const slotsOf = ({ planes, workers }: Run): Slot[] => [
        ...Array.from({ length: planes }, (_, index) => slot(`cp-${index + 1}`)),
        ...workers.map((name) => slot(name)),
      ];
      /** VM → its group. */
      const vmsOf = (infrastructure: string) =>
        fixture.withServer(async ({ infrastructures }) => {
          const found = await infrastructures.read("ns1", infrastructure);
          return new Map((found?.machines ?? []).map(({ name, group }) => [name, group]));
        });

      /** What the lines promise: groups that get a VM, and VMs that are deleted. */
      function promised(steps: string[], slots: Slot[]): { made: string[]; deleted: string[] } {
        const matches = (pattern: RegExp) => steps.flatMap((line) => pattern.exec(line)?.[1] ?? []);
        const groups = new Map(slots.map(({ machine, vmGroup }) => [machine, vmGroup]));
        return {
          made: matches(/^(\S+): create its VM in /)
            .map((machine) => groups.get(machine) ?? `no slot of ${machine}`)
            .sort(),
          deleted: matches(/^(?:\S+: delete its|delete the) VM ([^ ,]+), which /).sort(),
        };
      }

      async function run(
        infrastructure: string,
        wanted: Run,
        before: Outputs | undefined,
      ): Promise<Outputs | undefined> {
        const slots = slotsOf(wanted);
        const recorded = before ? { recorded: { vms: before.vms, leaving: before.leaving } } : {};
        const { inputs, refusals } = await host.check(KEY, before ?? {}, {
          ...fixture.mcis(infrastructure, slots),
          ...recorded,
        });
        assert.deepEqual(refusals, []);
        const steps = inputs.steps as string[];
        const there = await vmsOf(infrastructure);
        fixture.server.faults.clear();
        for (const machine of wanted.failing)
          fixture.server.faults.addForMachines({
            ...{ machine: `^${machine}(-\\d+)?$`, times: 1 },
            effect: { kind: "failed", systemMessage: "quota exceeded" },
          });
        let after: Outputs | undefined;
        if (before === undefined || (await host.diff(KEY, before, inputs)).changes)
          try {
            after = before
              ? await host.update(KEY, before, inputs)
              : (await host.create(KEY, inputs)).outputs;
          } catch (error) {
            after = keptOf(error);
            assert.ok(after, (error as Error).message);
          }
        else {
          assert.deepEqual(steps, []);
          after = before;
        }
        const now = await vmsOf(infrastructure);
        const seen = {
          made: [...now].flatMap(([name, group]) => (there.has(name) ? [] : [group])).sort(),
          deleted: [...there.keys()].filter((name) => !now.has(name)).sort(),
        };
        assert.deepEqual(seen, promised(steps, slots), steps.join("\n"));
        if (wanted.letGo) await letGo(infrastructure, after);
        return after;
      }

      /** As the engine does when the machines have left the cluster. */
      async function letGo(infrastructure: string, { leaving }: Outputs): Promise<void> {
        for (const [machine, vm] of Object.entries(leaving as Record<string, string>))
          await host.delete("tumblebug/TumblebugVm", {
            ...{ server: fixture.access, namespace: "ns1", infrastructure, machine, vm, timeoutSeconds: 15 },
          });
      }

      it(`lists exactly what is created and deleted, in ${SCENARIOS} stacks drawn by seed ${SEED}`, async () => {
        let drawn = 0;
        await fc.assert(
          fc.asyncProperty(runs, async (all) => {
            const infrastructure = `k${(drawn += 1)}`;
            let made: Outputs | undefined;
            for (const wanted of all) made = await run(infrastructure, wanted, made);
            if (made) await host.delete(KEY, made);
          }),
          { seed: SEED, numRuns: SCENARIOS, endOnFailure: true },
        );
      });
    });
});
