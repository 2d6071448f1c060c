import assert from "node:assert/strict";
import { departures, outlivedServers, type Sample } from "../../cluster/cluster-history";

const sample = (servers: string[], nodes: string[]): Sample => ({ servers, nodes, serving: nodes });

describe("the observed history of a cluster's servers", () => {
  it("finds a Node that is still there when its server is gone", () => {
    const history = [sample(["w-1", "w-2"], ["w-1", "w-2"]), sample(["w-1"], ["w-1", "w-2"])];
    assert.deepEqual(outlivedServers(history), ["w-2"]);
  });

  it("finds none when each machine left the cluster first or has not joined yet", () => {
    const history = [
      sample(["w-1"], ["w-1"]),
      sample(["w-1", "w-2"], ["w-1"]),
      sample(["w-1", "w-2"], ["w-1", "w-2"]),
      sample(["w-1", "w-2"], ["w-2"]),
      sample(["w-2"], ["w-2"]),
    ];
    assert.deepEqual(outlivedServers(history), []);
  });

  it("reports the order of deletions, and nothing that remained", () => {
    assert.deepEqual(departures([["a", "b", "c"], ["a", "b"], ["a", "b", "d"], ["b"]]), ["c", "a", "d"]);
  });
});
