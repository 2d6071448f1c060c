import assert from "node:assert/strict";
import fc from "fast-check";
import { configurationChange } from "../../../../providers/kubeadm/plan/configuration/configuration";
import {
  beginWrite,
  type ConfigurationRecord,
  endWrite,
  interruptedParts,
  parseRecord,
  type WrittenPart,
  writtenParts,
} from "../../../../providers/kubeadm/plan/configuration/configuration-record";
import type { ClusterSpecification } from "../../../../providers/kubeadm/plan/cluster/specification";
import { exampleSpecification } from "./machine/examples";

const running = exampleSpecification();
const withPods = (maxPods: number): ClusterSpecification => ({ ...running, kubelet: { maxPods } });
const withProxy = (mode: string): ClusterSpecification => ({ ...running, kubeProxy: { mode } });
const withEndpoint = (host: string): ClusterSpecification => ({
  ...running,
  endpoint: { external: { host, port: 6443 } },
});
const changeOf = (olds: ClusterSpecification, news: ClusterSpecification) =>
  writtenParts(configurationChange(olds, news));

describe("the record of what the cluster's own objects may have", () => {
  const changes: [string, ClusterSpecification, ClusterSpecification, WrittenPart[]][] = [
    ["the kubelet", withPods(1), withPods(2), ["kubeadm"]],
    ["kube-proxy", withProxy("ipvs"), withProxy("nftables"), ["kubeProxy"]],
    ["the endpoint", withEndpoint("a"), withEndpoint("b"), ["endpoint"]],
    [
      "files, which are in no object",
      running,
      { ...running, files: [{ path: "/a", content: "", mode: "0600" }] },
      [],
    ],
  ];
  for (const [what, olds, news, parts] of changes)
    it(`has an interrupted write of ${what} until the settings of one side are written again`, () => {
      assert.deepEqual(changeOf(olds, news), parts);
      const begun = beginWrite({}, parts, { olds, news });
      assert.deepEqual(interruptedParts(begun, olds), parts);
      assert.deepEqual(interruptedParts(begun, news), parts);
      const ended = endWrite(begun, parts, news);
      assert.deepEqual(interruptedParts(ended, news), []);
      // the state of a run that was killed right after the write
      assert.deepEqual(interruptedParts(ended, olds), parts);
      assert.deepEqual(interruptedParts(endWrite(begun, parts, olds), olds), []);
    });

  it("knows every endpoint that the objects may have, also after several interrupted moves", () => {
    const first = beginWrite({}, ["endpoint"], { olds: withEndpoint("a"), news: withEndpoint("b") });
    const second = beginWrite(first, ["endpoint"], { olds: withEndpoint("a"), news: withEndpoint("c") });
    assert.deepEqual(second, { endpoint: ["a:6443", "b:6443", "c:6443"] });
  });

  it("says nothing about a part that was never changed", () =>
    assert.deepEqual(interruptedParts({}, running), []));

  /** Where a run that writes is killed. */
  const killed = fc.constantFrom(
    "before the record",
    "after the record",
    "after the write",
    "never saved",
    "not",
  );
  const run = fc.record({ maxPods: fc.integer({ min: 1, max: 3 }), killed });

  it("finds other settings in the objects than the state has, wherever runs were killed", () =>
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
        let state = withPods(1);
        let object = 1;
        let record: ConfigurationRecord = {};
        const write = (parts: readonly WrittenPart[], maxPods: number, at: string) => {
          if (parts.length === 0 || at === "before the record") return;
          const news = withPods(maxPods);
          record = beginWrite(record, parts, { olds: state, news });
          if (at === "after the record") return;
          object = maxPods;
          if (at !== "after the write") record = endWrite(record, parts, news);
        };
        for (const { maxPods, killed: at } of runs) {
          const news = withPods(maxPods);
          const own = changeOf(state, news);
          write(own, maxPods, at);
          if (own.length > 0 && at !== "not") continue;
          state = news;
          write(interruptedParts(record, news), maxPods, at);
          const isOther = object !== maxPods;
          assert.ok(!isOther || interruptedParts(record, state).length > 0, "other settings are not noticed");
          if (at === "not") assert.deepEqual([object, interruptedParts(record, state)], [maxPods, []]);
        }
      }),
      { numRuns: 500 },
    ));

  it("is read again as it was written, and what others write instead of it counts as none", () => {
    const record = { kubeadm: ["a1", "b2"], endpoint: ["lb.example.org:6443"] };
    assert.deepEqual(parseRecord(JSON.stringify(record)), record);
    for (const text of [undefined, "", "[", "[]", "null", '{"kubeadm":"a1"}', '{"endpoint":["a b"]}'])
      assert.deepEqual(parseRecord(text), {});
  });
});
