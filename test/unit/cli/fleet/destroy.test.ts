import assert from "node:assert/strict";
import fc from "fast-check";
import {
  destroyDetails,
  destroyWords,
  type ExportedResource,
  planDestroy,
  type ResourceEnd,
  reversed,
  unseenEnds,
} from "../../../../cli/fleet/plan/destroy";
import type { Fleet } from "../../../../cli/fleet/plan/fleet";
import { nextOf, NOTHING_DONE, type StackState } from "../../../../cli/fleet/plan/waves";

const OWN = "pulumi-nodejs:dynamic/foresail:";
const resource = (type: string, name: string, rest: Partial<ExportedResource> = {}): ExportedResource => ({
  urn: `urn:pulumi:eu1::foresail::${type}::${name}`,
  type,
  ...rest,
});
const cluster = (adopt?: object) =>
  resource(`${OWN}ClusterInit`, "test-init", {
    outputs: {
      specification: { name: "test" },
      machines: [{ name: "cp-1" }, { name: "w-1" }],
      ...(adopt && { adopt }),
    },
  });
const owner = ({ name = "test", ...fields }: { name?: string; adopts?: true; provided?: true } = {}) =>
  resource(`${OWN}ClusterOwner`, `${name}-owner`, {
    outputs: { specification: { name }, machines: [{ name: "cp-1" }], ...fields },
  });
const AGENTS = resource(`${OWN}NodeAgents`, "test-agents");
const BUCKET = resource("aws:s3/bucket:Bucket", "backups");

describe("the destroy of a stack", () => {
  const cases: [what: string, all: ExportedResource[], ends: ResourceEnd[], words: string, said: RegExp][] = [
    ["an empty stack", [], [], "nothing is left", /^$/],
    [
      "a cluster that foresail made",
      [cluster(), AGENTS],
      ["reset", "delete"],
      "reset 1 cluster; delete 1 resource",
      /^cluster test-init \(cp-1, w-1\): ends; .*\ndeleted: NodeAgents$/,
    ],
    [
      "what a first run left that was killed before the state had its cluster",
      [owner(), owner({ name: "old", adopts: true }), owner({ name: "cloud", provided: true })],
      ["reset", "release", "delete"],
      "reset 1 cluster; release 1 cluster, which keeps running; delete 1 resource",
      /^cluster test-owner \(cp-1\): ends; .*\ncluster old-owner \(cp-1\): others made it .*\ndeleted: ClusterOwner$/,
    ],
    [
      "the owner of a cluster that is reset",
      [cluster(), owner()],
      ["reset", "delete"],
      "reset 1 cluster; delete 1 resource",
      /ends;/,
    ],
    [
      "an adopted cluster, beside what the stack made",
      [cluster({}), AGENTS, BUCKET],
      ["release", "forget", "delete"],
      "release 1 cluster, which keeps running; delete 1 resource",
      /^cluster test-init \(cp-1, w-1\): others made it and it keeps running; .*\ndeleted: Bucket$/,
    ],
    [
      "an adopted cluster that is to be reset",
      [cluster({ reset: true })],
      ["reset"],
      "reset 1 cluster",
      /^cluster .*: ends; /,
    ],
    [
      "objects that stay",
      [
        resource(`${OWN}Adoption`, "pool", { outputs: { made: false } }),
        resource(`${OWN}Adoption`, "own", { outputs: { made: true } }),
        { ...BUCKET, retainOnDelete: true },
        resource("aws:ec2/vpc:Vpc", "shared", { external: true }),
      ],
      ["keep", "delete", "keep", "keep"],
      "keep 3 resources; delete 1 resource",
      /^Adoption pool: stays as it is\nBucket backups: stays as it is\nVpc shared: stays as it is\ndeleted: Adoption$/,
    ],
    [
      "a protected resource",
      [cluster(), { ...BUCKET, protect: true }],
      ["reset", "refuse"],
      "refused: 1 protected resource",
      /\nBucket backups: protected; to allow it: pulumi state unprotect 'urn:pulumi:eu1::.*' --stack eu1$/,
    ],
  ];
  for (const [what, all, ends, words, said] of cases)
    it(`tells what goes and what stays: ${what}`, () => {
      const destroy = planDestroy(all);
      assert.deepEqual(Object.values(destroy), ends);
      assert.equal(destroyWords(destroy), words);
      assert.match(destroyDetails(all).join("\n"), said);
    });

  it("is bound to what was seen: less may be left, but nothing new, and no other end", () => {
    const seen = planDestroy([cluster({}), AGENTS]);
    assert.deepEqual(unseenEnds(planDestroy([cluster({})]), seen), []);
    assert.deepEqual(unseenEnds(planDestroy([cluster({}), AGENTS, BUCKET]), seen), ["backups"]);
    assert.deepEqual(unseenEnds(planDestroy([cluster({ reset: true })]), seen), ["test-init"]);
  });
});

describe("the destroy of a fleet", () => {
  const fleets = fc
    .tuple(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 3 }),
    )
    .map(([sizes, maxParallel]): Fleet => ({
      maxParallel,
      onFailure: "continue",
      waves: sizes.map((size, wave) => ({
        name: `wave-${wave}`,
        stacks: Array.from({ length: size }, (_, index) => `s-${wave}-${index}`),
        gate: { approval: true, commandSeconds: 1 },
      })),
    }));

  it("destroys no stack before every later wave is destroyed, and none after a failure (property)", () => {
    fc.assert(
      fc.property(fleets, fc.nat(12), (fleet, failing) => {
        const order = reversed(fleet);
        const stacks: Record<string, StackState> = {};
        const begun: string[] = [];
        for (let next = nextOf(order, NOTHING_DONE); next.end === undefined;) {
          assert.equal(next.gate, undefined);
          for (const name of next.stacks) {
            const wave = Number(name.split("-")[1]);
            const later = fleet.waves.slice(wave + 1).flatMap((one) => one.stacks);
            assert.ok(
              later.every((one) => stacks[one] === "done"),
              `${name} before ${later.join()}`,
            );
            begun.push(name);
          }
          // those that begin together end together, one of them perhaps with a failure
          for (const name of next.stacks) stacks[name] = begun.indexOf(name) === failing ? "failed" : "done";
          next = nextOf(order, { stacks, gates: {} });
        }
        const all = fleet.waves.flatMap((wave) => wave.stacks);
        if (failing >= all.length) assert.deepEqual(begun, [...all].reverse());
        else assert.ok(begun.length <= failing + fleet.maxParallel);
      }),
    );
  });
});
