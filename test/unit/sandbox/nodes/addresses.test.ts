import assert from "node:assert/strict";
import fc from "fast-check";
import {
  candidatePorts,
  chooseAddress,
  chooseSubnet,
  hardwareAddress,
  overlaps,
} from "../../../../sandbox/nodes/addresses";

const seeds = fc.stringMatching(/^[0-9a-f]{8}$/);

describe("addresses of container nodes", () => {
  it("offers every free port once, in a range below the ephemeral ones", () => {
    fc.assert(
      fc.property(
        seeds,
        fc.uniqueArray(fc.integer({ min: 20_000, max: 29_999 }), { maxLength: 50 }),
        (seed, taken) => {
          const ports = [...candidatePorts(seed, new Set(taken))];
          assert.equal(new Set(ports).size, 10_000 - taken.length);
          assert.ok(ports.every((port) => port >= 20_000 && port < 30_000 && !taken.includes(port)));
        },
      ),
      { numRuns: 20 },
    );
  });

  it("chooses a subnet that no network of this machine overlaps", () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 200 }), (seed, thirds) => {
        const used = thirds.map((third) => `10.77.${third}.1/24`);
        const subnet = chooseSubnet(seed, used);
        assert.ok(used.every((cidr) => !overlaps(cidr, subnet)));
      }),
    );
  });

  it("says what to do when a larger network covers all subnets", () => {
    assert.throws(() => chooseSubnet("00", ["10.0.0.0/8"]), /no free subnet in 10\.77\.0\.0\/16/);
  });

  for (const [one, other, expected] of [
    ["10.77.1.0/24", "10.77.1.200/32", true],
    ["10.77.1.0/24", "10.77.2.0/24", false],
    ["10.0.0.0/8", "10.77.2.0/24", true],
    ["fe80::/64", "10.77.2.0/24", false],
    ["200.0.0.0/8", "200.1.0.0/16", true],
  ] as const) {
    it(`finds that ${one} and ${other} ${expected ? "overlap" : "do not overlap"}`, () => {
      assert.equal(overlaps(one, other), expected);
      assert.equal(overlaps(other, one), expected);
    });
  }

  it("derives a locally administered link address from an address", () => {
    assert.equal(hardwareAddress("10.77.3.200"), "02:f5:0a:4d:03:c8");
  });

  it("gives the lowest free address, and refuses a full subnet", () => {
    assert.equal(chooseAddress("10.77.3.0/24", new Set(["10.77.3.11", "10.77.3.13"])), "10.77.3.12");
    const all = new Set(Array.from({ length: 256 }, (_, host) => `10.77.3.${host}`));
    assert.throws(() => chooseAddress("10.77.3.0/24", all), /is full: at most 240 nodes/);
  });
});
