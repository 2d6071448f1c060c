import assert from "node:assert/strict";
import {
  avoidableWaits,
  longestChain,
  ObjectTimes,
  secondsByKind,
  type MadeObject,
} from "../../../bench/object-waits";

const urnOf = (type: string, name: string) => `urn:pulumi:bench::x::a:b:C$openstack:${type}::${name}`;
const recorded = (type: string, name: string, dependencies: string[] = []) => ({
  urn: urnOf(type, name),
  id: name,
  dependencies,
  inputs: {},
  outputs: {},
});
const NETWORK = recorded("networking/network:Network", "n");
const PORT = recorded("networking/port:Port", "p", [NETWORK.urn]);

const object = (name: string, seconds: number, ...after: string[]): MadeObject => ({
  key: `openstack:x:${name}`,
  seconds,
  after: after.map((other) => `openstack:x:${other}`),
});
/** Network → Subnet → Port and RouterInterface → Instance, with rules on the way. */
const FLOOR = [
  object("Network n", 5),
  object("Subnet n", 5, "Network n"),
  object("Router r", 6),
  object("RouterInterface n", 7, "Router r", "Subnet n"),
  object("Port p-1", 5, "Network n", "Subnet n"),
  object("Instance i-1", 10, "Port p-1"),
];
const CLUSTER = [
  ...FLOOR.slice(0, -1),
  object("SecGroupRule s", 1),
  object("Instance i-1", 10, "Port p-1", "RouterInterface n", "SecGroupRule s"),
];

describe("the waits of a measured run", () => {
  describe("read from the engine's lines", () => {
    const LINES: [number, string][] = [
      [500, "Previewing update (bench):"],
      [900, " +  openstack:networking:Network n create "],
      [3_000, "Updating (bench):"],
      [3_100, " +  pulumi:pulumi:Stack x-bench creating (0s) "],
      [4_000, " +  openstack:networking:Network n creating (0s) "],
      [6_000, " +  openstack:networking:Network n creating (2s) some message"],
      [9_500, " +  openstack:networking:Network n created (5s) "],
      [9_600, " +  openstack:networking:Port p creating (0s) "],
      [15_000, " +  openstack:networking:Port p created (5s) "],
      [15_500, " +  pulumi:pulumi:Stack x-bench created (12s) "],
    ];

    function read(lines: [number, string][]): ObjectTimes {
      let now = 0;
      const times = new ObjectTimes(() => now);
      for (const [at, line] of lines) {
        now = at;
        times.take(line);
      }
      return times;
    }

    it("are those between an object's first line and its last, with its dependencies", () => {
      const stack = { ...NETWORK, urn: "urn:pulumi:bench::x::pulumi:pulumi:Stack::x-bench" };
      assert.deepEqual(read(LINES).made([stack, NETWORK, PORT]), [
        { key: "openstack:networking:Network n", seconds: 5.5, after: [] },
        { key: "openstack:networking:Port p", seconds: 5.4, after: ["openstack:networking:Network n"] },
      ]);
    });

    it("leave out what the run did not make", () => {
      assert.deepEqual(
        read(LINES)
          .made([NETWORK, recorded("networking/router:Router", "r")])
          .map(({ key }) => key),
        ["openstack:networking:Network n"],
      );
    });

    it("add up to the whole run", () => {
      assert.deepEqual(read(LINES).phases(16_000), { preview: 3, start: 1, objects: 11, end: 1 });
    });

    it("are refused when nothing was created", () => {
      assert.throws(() => read(LINES.slice(0, 4)).phases(16_000), /has printed no creation/);
    });
  });

  describe("in a chain", () => {
    it("add up along the longest way", () => {
      assert.deepEqual(longestChain(FLOOR), {
        seconds: 25,
        keys: ["Network n", "Subnet n", "Port p-1", "Instance i-1"].map((name) => `openstack:x:${name}`),
      });
      assert.equal(longestChain(CLUSTER).seconds, 27);
    });

    it("are none without objects, and count nothing for what exists already", () => {
      assert.deepEqual(longestChain([]), { seconds: 0, keys: [] });
      assert.equal(longestChain([object("Port p", 5, "Network before")]).seconds, 5);
    });

    it("are refused in a cycle", () => {
      assert.throws(
        () => longestChain([object("Port a", 1, "Port b"), object("Port b", 1, "Port a")]),
        /itself/,
      );
    });

    it("walk a hundred servers once each", () => {
      const servers = Array.from({ length: 100 }, (_, index) =>
        object(`Instance i-${index}`, 10, "Port p-1"),
      );
      assert.equal(longestChain([...FLOOR, ...servers]).seconds, 25);
    });
  });

  it("name what a dependency costs beyond the minimum", () => {
    assert.deepEqual(avoidableWaits(CLUSTER, FLOOR), [
      { kind: "Instance", after: "RouterInterface", seconds: 2 },
      { kind: "Instance", after: "SecGroupRule", seconds: 0 },
    ]);
    assert.deepEqual(avoidableWaits(FLOOR, FLOOR), []);
  });

  it("are gathered by kind", () => {
    assert.deepEqual(
      [...secondsByKind([object("Port a", 5), object("Router r", 6), object("Port b", 7)])],
      [
        ["Port", [5, 7]],
        ["Router", [6]],
      ],
    );
  });
});
