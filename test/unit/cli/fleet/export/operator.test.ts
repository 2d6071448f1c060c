import assert from "node:assert/strict";
import fc from "fast-check";
import {
  operatorIssues,
  type OperatorSource,
  operatorSourceIssues,
  operatorStacks,
} from "../../../../../cli/fleet/plan/export/operator";
import type { Fleet } from "../../../../../cli/fleet/plan/fleet";
import { isObject } from "../../../../../lib/json";
import { formatPath } from "../../../../../lib/validation/validation-issue";
import { assertForm, fleetNamed, fleets, hostileNames, schemaNamed } from "./fleets";

const SOURCE: OperatorSource = {
  repository: "https://git.example.com/ops/foresail.git",
  commit: "0123456789abcdef0123456789abcdef01234567",
  image: "registry.example.com/foresail@sha256:abc",
  gitSecret: "git",
};

interface StackObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly commit: string; readonly prerequisites: readonly { readonly name: string }[] };
}

/** Fleets without what the operator can't do. */
const possible: fc.Arbitrary<Fleet> = fleets.map((fleet) => ({
  ...fleet,
  onFailure: "stop",
  waves: fleet.waves.map(({ name, stacks }) => ({
    name,
    stacks: stacks.map((stack) => stack.toLowerCase().replaceAll(/[_.]/g, "-")),
  })),
}));

const objectsOf = (fleet: Fleet, commit = SOURCE.commit) =>
  operatorStacks(fleet, { ...SOURCE, commit }).documents as StackObject[];

/** The schema of the operator's definition as an API server that refuses unknown fields applies it. */
function operatorSchema(): object {
  const closed = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(closed);
    if (!isObject(schema)) return schema;
    const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
    const isOpen = !isObject(schema.properties) || schema["x-kubernetes-preserve-unknown-fields"] === true;
    return isOpen ? inner : { ...inner, additionalProperties: false };
  };
  const { spec } = schemaNamed("operator-stack.json") as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: object } } }[] };
  };
  const { openAPIV3Schema } = spec.versions[0]!.schema;
  return closed({
    ...openAPIV3Schema,
    // the definition leaves the fields of metadata to the API server
    properties: {
      ...openAPIV3Schema.properties,
      metadata: { type: "object", required: ["name"], properties: { name: {}, labels: { type: "object" } } },
    },
    required: ["apiVersion", "kind", "metadata", "spec"],
  }) as object;
}

/** What the operator does with Stack objects: it reads prerequisites as its `isRequirementSatisfied` does. */
class Operator {
  private readonly objects = new Map<string, StackObject>();
  /** The commit of the last update that ended, and whether it succeeded. */
  readonly last = new Map<string, { commit: string; succeeded: boolean }>();
  readonly running = new Set<string>();

  apply(object: StackObject): void {
    this.objects.set(object.metadata.name, object);
  }

  /** The stacks that it would begin now. */
  ready(): string[] {
    const satisfied = (name: string) => {
      const last = this.last.get(name);
      // another commit is another generation of the object, which has to have run
      return last?.succeeded === true && last.commit === this.objects.get(name)?.spec.commit;
    };
    return [...this.objects].flatMap(([name, { spec }]) => {
      const isSynced = this.last.get(name)?.commit === spec.commit;
      const waits = this.running.has(name) || isSynced;
      return !waits && spec.prerequisites.every((one) => satisfied(one.name)) ? [name] : [];
    });
  }

  end(name: string, succeeded: boolean): void {
    this.running.delete(name);
    this.last.set(name, { commit: this.objects.get(name)!.spec.commit, succeeded });
  }
}

describe("the Stack objects for the Pulumi Kubernetes Operator", function () {
  this.timeout(120_000);

  it("have the form of the operator's definition, whatever fleet.yaml says, and are read as they were meant", () => {
    assertForm(operatorSchema(), (fleet) => [operatorStacks(fleet, SOURCE)], possible);
  });

  it("let the operator begin a wave after the one before, at most `maxParallel` stacks at once, whenever it looks", () =>
    fc.assert(
      fc.property(
        possible,
        fc.infiniteStream(fc.nat()),
        fc.array(fc.nat(4), { maxLength: 2 }),
        (fleet, choices, failing) => {
          const stacks = fleet.waves.flatMap((wave) => wave.stacks);
          const broken = new Set(failing.map((at) => stacks[at]));
          const operator = new Operator();
          for (const commit of ["a", "b"]) {
            // one object after the other, while the operator works
            const objects = objectsOf(fleet, commit);
            const failed = commit === "b" ? broken : new Set();
            for (;;) {
              const ready = operator.ready();
              const steps = [...(objects.length > 0 ? ["apply"] : []), ...ready, ...operator.running];
              const step = steps[choices.next().value! % steps.length];
              if (step === undefined) break;
              if (step === "apply") operator.apply(objects.shift()!);
              else if (operator.running.has(step)) operator.end(step, !failed.has(step));
              else operator.running.add(step);
              if (ready.includes(step)) assertAllowed(fleet, operator, commit, step);
            }
            const begun = stacks.filter((stack) => operator.last.get(stack)?.commit === commit);
            if (failed.size === 0) assert.deepEqual(begun, stacks);
          }
        },
      ),
      { numRuns: 300 },
    ));

  /** Asserts that the waves allow a stack to run. */
  function assertAllowed(fleet: Fleet, { last, running }: Operator, commit: string, stack: string): void {
    const wave = fleet.waves.findIndex(({ stacks }) => stacks.includes(stack));
    for (const before of fleet.waves.slice(0, wave).flatMap(({ stacks }) => stacks))
      assert.deepEqual(last.get(before), { commit, succeeded: true }, `${stack} began before ${before}`);
    assert.ok(running.size <= fleet.maxParallel, `${running.size} at once`);
  }

  it("refuse what the operator can't do, with the place in fleet.yaml", () => {
    const gate = { approval: true, commandSeconds: 600 };
    const window = { days: ["mon"], from: "22:00", to: "04:00", timeZone: "UTC", outside: "stop" } as const;
    const issuesOf = (fleet: Partial<Fleet>, wave = {}) =>
      operatorIssues({
        ...fleetNamed("prod-eu1", "canary"),
        waves: [{ name: "canary", stacks: ["prod-eu1"], ...wave }],
        ...fleet,
      }).map(({ path, message }) => `${formatPath(path)}: ${message}`);
    const cases: [string[], RegExp][] = [
      [issuesOf({}, { gate }), /^waves\[0\]\.gate: the operator checks no gate/],
      [issuesOf({}, { window }), /^waves\[0\]\.window: the operator knows no time/],
      [issuesOf({}, { windows: { a: window } }), /^windows: the operator knows no time, /],
      [issuesOf({ onFailure: "continue" }), /^onFailure: the operator begins no wave after a failure/],
      [issuesOf({}, { stacks: ["Lab_1"] }), /^waves\[0\]: "Lab_1" can't be the name of an object/],
      [issuesOf({}, { stacks: ["a".repeat(43)] }), /at most 42/],
    ];
    for (const [issues, expected] of cases) {
      assert.equal(issues.length, 1);
      assert.match(issues[0]!, expected);
    }
    fc.assert(fc.property(possible, (fleet) => assert.deepEqual(operatorIssues(fleet), [])));
  });

  it("have no name and no option that is more than plain text", () => {
    assert.deepEqual(operatorSourceIssues(SOURCE), []);
    const ssh = { ...SOURCE, repository: "git@git.example.com:ops/foresail.git" };
    assert.deepEqual(operatorSourceIssues(ssh), []);
    for (const repository of ["https://u:p@git.example.com/a", "http://git.example.com/a", "/srv/git"])
      assert.equal(operatorSourceIssues({ ...SOURCE, repository }).length, 1, repository);
    assert.equal(operatorSourceIssues({ ...SOURCE, commit: "main" }).length, 1);
    fc.assert(
      fc.property(hostileNames, (text) => {
        const strange = `$(X)${text}`;
        const wrong = { repository: `https://${strange}`, commit: text, image: strange, gitSecret: strange };
        assert.equal(operatorSourceIssues(wrong).length, 4);
        assert.notDeepEqual(operatorIssues(fleetNamed(text, "canary")), []);
        assert.throws(() => operatorStacks(fleetNamed("prod", text), SOURCE), /only names/);
      }),
    );
  });
});
