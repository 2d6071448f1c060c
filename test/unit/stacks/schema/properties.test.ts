import assert from "node:assert/strict";
import fc from "fast-check";
import {
  formatIpv4,
  parseIpv4,
  cidrContains,
  cidrSize,
  cidrsOverlap,
  formatCidr,
  parseCidr,
  type Cidr,
} from "../../../../lib/validation/addresses";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { editDistance, nearest } from "../../../../lib/validation/spelling";
import { ClusterInput } from "../../../../stacks/schema";
import { issuesOf } from "./issues";
import { cluster, reader } from "./valid";

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const block: fc.Arbitrary<Cidr> = fc
  .tuple(fc.nat(0xffffffff), fc.integer({ min: 0, max: 32 }))
  .map(([bits, prefix]) => {
    const size = 2 ** (32 - prefix);
    return { first: bits - (bits % size), prefix };
  });

/** Valid clusters: 1, 3 or 5 control planes, some workers, some of the optional fields. */
const validCluster = fc
  .record({
    name: label,
    version: fc
      .tuple(fc.integer({ min: 31, max: 36 }), fc.nat(20))
      .map(([minor, patch]) => `1.${minor}.${patch}`),
    controlPlanes: fc.constantFrom(1, 3, 5),
    workers: fc.nat(4),
    user: fc.constantFrom(undefined, "ops"),
    port: fc.constantFrom(undefined, 2022),
    pool: fc.option(label, { nil: undefined }),
    labels: fc.dictionary(label, label, { maxKeys: 3, noNullPrototype: true }),
    plugin: fc.constantFrom(
      { bridge: {} },
      { cilium: { values: { a: 1 } } },
      { manifest: { path: "a.yaml" } },
    ),
    endpoint: fc.constantFrom(undefined, { external: { host: "lb.example.com" } }, { loopback: {} }),
    source: fc.constantFrom(undefined, { bundle: { path: "/opt/bundle" } }),
    kubelet: fc.constantFrom({}, { maxPods: 50 }),
  })
  .map(({ controlPlanes, workers, user, port, pool, labels, plugin, ...rest }) => ({
    ...rest,
    ssh: { user, port },
    network: { plugin },
    machines: Array.from({ length: controlPlanes + workers }, (_, index) => ({
      name: `m-${index}`,
      address: `192.0.2.${index + 1}`,
      role: index < controlPlanes ? "control-plane" : "worker",
      labels,
      ...(index >= controlPlanes && pool !== undefined ? { pool } : {}),
    })),
  }));

describe("configuration: properties", () => {
  it("passes every valid cluster, and what it completes stays equal when read again", () => {
    fc.assert(
      fc.property(validCluster, (value) => {
        assert.deepEqual(issuesOf(reader(value)), []);
        const once = ClusterInput.parse(JSON.parse(JSON.stringify(value)));
        assert.deepEqual(ClusterInput.parse(JSON.parse(JSON.stringify(once))), once);
      }),
    );
  });

  it("never crashes on a wrong value: it reports issues or accepts", () => {
    const fields = Object.keys(ClusterInput.shape);
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.jsonValue(), (field, value) => {
        for (const line of issuesOf(reader(cluster({ [field]: value }))))
          assert.match(line, /^cluster[.[:]?.*: .|^and \d+ more$/);
      }),
      { numRuns: 300 },
    );
    const machine = fc.record({ name: fc.jsonValue(), address: fc.jsonValue(), role: fc.jsonValue() });
    fc.assert(
      fc.property(fc.array(fc.oneof(machine, fc.jsonValue())), (machines) => {
        assert.notDeepEqual(issuesOf(reader(cluster({ machines }))), []);
      }),
    );
  });

  it("reads every IPv4 address and block that it writes", () => {
    fc.assert(fc.property(fc.nat(0xffffffff), (bits) => assert.equal(parseIpv4(formatIpv4(bits)), bits)));
    fc.assert(fc.property(block, (cidr) => assert.deepEqual(parseCidr(formatCidr(cidr)), cidr)));
  });

  it("finds an overlap exactly when some address is in both blocks, whichever comes first", () => {
    fc.assert(
      fc.property(block, block, (left, right) => {
        // Two aligned blocks share an address exactly when the smaller one's first address is in the larger.
        const [small, large] = cidrSize(left) <= cidrSize(right) ? [left, right] : [right, left];
        assert.equal(cidrsOverlap(left, right), cidrContains(large, small.first));
        assert.equal(cidrsOverlap(left, right), cidrsOverlap(right, left));
      }),
    );
  });

  it("measures spelling distance: equal is 0, the order does not matter, one wrong letter is recognized", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        assert.equal(editDistance(left, left), 0);
        assert.equal(editDistance(left, right), editDistance(right, left));
      }),
    );
    assert.equal(nearest("machnes", ["name", "machines"]), "machines");
    assert.equal(nearest("zzz", ["name", "machines"]), undefined);
  });

  it("writes paths in the usual notation", () => {
    assert.equal(
      formatPath(["cluster", "machines", 2, "labels", "a/b"]),
      'cluster.machines[2].labels["a/b"]',
    );
  });
});
