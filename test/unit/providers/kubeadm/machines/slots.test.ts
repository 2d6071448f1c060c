import assert from "node:assert/strict";
import { keptSlots } from "../../../../../providers/kubeadm/plan/machines/slots";

/** Machines of the pool "w": "w-1-a" is a Node, "w-1-a?" is a server only, and "w-1-a!" does not run. */
const kept = (replicas: number, machines: string): string => {
  const words = machines.split(" ").filter(Boolean);
  const list = words.map((word) => {
    const name = word.replace(/[?!]$/, "");
    return { name, slot: name.slice(0, name.lastIndexOf("-")), pool: "w", joined: !word.endsWith("?") };
  });
  const stopped = (name: string) => words.includes(`${name}!`);
  return keptSlots({ name: "w", replicas }, list, stopped).join(" ");
};

describe("the slots that a pool keeps", () => {
  const cases: [what: string, replicas: number, machines: string, slots: string][] = [
    ["the lowest of a new pool", 2, "", "w-1 w-2"],
    ["the lowest of a smaller pool", 1, "w-1-a w-2-a w-10-a", "w-1"],
    ["the empty ones of a pool that has lost a machine", 3, "w-1-a w-3-a", "w-1 w-2 w-3"],
    ["what runs of a smaller pool", 1, "w-1-a! w-2-a w-3-a w-4-a w-5-a", "w-2"],
    ["the same in the run after", 1, "w-2-a", "w-2"],
    ["what is left of a run that was cut off", 1, "w-2-a w-4-a", "w-2"],
    ["the empty ones beside those of a pool that was smaller", 3, "w-2-a w-5-a", "w-1 w-2 w-5"],
    ["a machine that does not run, where the pool does not become smaller", 2, "w-1-a! w-2-a", "w-1 w-2"],
    ["a Node before a server that never became one", 1, "w-1-a? w-2-a", "w-2"],
    ["a slot whose successor runs", 1, "w-1-a! w-1-b w-2-a", "w-1"],
    ["the lowest where nothing runs", 1, "w-1-a! w-2-a!", "w-1"],
    ["none of an empty pool", 0, "w-1-a w-2-a!", ""],
  ];
  for (const [what, replicas, machines, slots] of cases)
    it(`are ${what}`, () => assert.equal(kept(replicas, machines), slots));

  it("leave out the machines of other pools", () => {
    const other = { name: "v-1-a", slot: "v-1", pool: "v", joined: true };
    assert.deepEqual(
      keptSlots({ name: "w", replicas: 1 }, [other], () => false),
      ["w-1"],
    );
  });
});
