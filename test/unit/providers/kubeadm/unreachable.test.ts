import assert from "node:assert/strict";
import fc from "fast-check";
import {
  toleratedUnreachable,
  type UnreachableLimit,
} from "../../../../providers/kubeadm/plan/membership/unreachable";
import { exampleMachine } from "./machine/examples";

const machines = (planes: number, workers: number) => [
  ...Array.from({ length: planes }, (_, index) => exampleMachine(`cp-${index + 1}`)),
  ...Array.from({ length: workers }, (_, index) => exampleMachine(`w-${index + 1}`)),
];

describe("unreachable machines that a run may leave out", () => {
  const [NONE, ONE] = [{ tolerated: [] }, { tolerated: ["w-1"] }];
  for (const [what, unreachable, limit, expected] of [
    ["none without a limit", ["w-1"], undefined, NONE],
    ["none with the limit 0", ["w-1"], 0, NONE],
    ["none with a percentage of less than one machine", ["w-1"], "9%", NONE],
    ["one with a percentage of one machine", ["w-1"], "10%", ONE],
    [
      "all within the limit, in the order of the machines",
      ["w-2", "cp-1"],
      2,
      { tolerated: ["cp-1", "w-2"] },
    ],
    ["no machine that is not configured", ["w-1", "gone"], 1, ONE],
    [
      "none above the limit",
      ["w-1", "w-2"],
      1,
      {
        tolerated: [],
        excess: "2 machines can't be reached, and rollout.unreachable allows 1 of 10 machines",
      },
    ],
    [
      "no more control planes than etcd tolerates failures",
      ["cp-1", "cp-3", "w-1"],
      "100%",
      { tolerated: [], excess: "cp-1, cp-3 can't be reached, and etcd tolerates 1 of 3 control planes" },
    ],
  ] as const)
    it(`are ${what}`, () => {
      assert.deepEqual(toleratedUnreachable(machines(3, 7), unreachable, limit), expected);
    });

  it("are none of two control planes, and one of three", () => {
    assert.deepEqual(toleratedUnreachable(machines(2, 0), ["cp-2"], 2).tolerated, []);
    assert.deepEqual(toleratedUnreachable(machines(3, 0), ["cp-2"], 2).tolerated, ["cp-2"]);
  });

  it("never exceed the limit, never cost etcd its quorum, and are all that can't be reached or none", () => {
    const limits = fc.oneof(
      fc.constant(undefined),
      fc.nat(12),
      fc.nat(100).map((percent): UnreachableLimit => `${percent}%`),
    );
    const clusters = fc
      .record({ planes: fc.integer({ min: 1, max: 7 }), workers: fc.nat(20) })
      .map(({ planes, workers }) => machines(planes, workers))
      .chain((all) => fc.tuple(fc.constant(all), fc.subarray(all.map(({ name }) => name))));
    fc.assert(
      fc.property(clusters, limits, ([all, unreachable], limit) => {
        const { tolerated, excess } = toleratedUnreachable(all, unreachable, limit);
        const maximum = typeof limit === "string" ? (all.length * parseInt(limit)) / 100 : (limit ?? 0);
        assert.ok(tolerated.length <= maximum);
        assert.deepEqual(tolerated, tolerated.length > 0 ? unreachable : []);
        const planes = all.filter(({ role }) => role === "control-plane");
        const left = planes.filter(({ name }) => !tolerated.includes(name)).length;
        assert.ok(left > planes.length / 2);
        assert.equal(excess !== undefined, tolerated.length < unreachable.length && Math.floor(maximum) > 0);
      }),
    );
  });
});
