import assert from "node:assert/strict";
import type { KubernetesClient, Node } from "../../../../lib/kubernetes";
import { changesSoFar, countingChanges } from "../../../../lib/pulumi/changes";
import { SharedReadings } from "../../../../providers/kubeadm/resources/session/shared-reading";

/** Connections that count what is asked of them. */
class CountedConnections {
  opened = 0;
  closed = 0;
  lists = 0;
  /** What the next list of Nodes is waited for. */
  answer: Promise<Node[]> = Promise.resolve([]);

  readonly connect = (): Promise<KubernetesClient> => {
    this.opened += 1;
    const client = {
      listNodes: () => {
        this.lists += 1;
        return this.answer;
      },
      close: () => (this.closed += 1),
    };
    return Promise.resolve(client as unknown as KubernetesClient);
  };
}

const list = ({ listNodes }: Pick<KubernetesClient, "listNodes">) => listNodes();

describe("resources that read the same cluster", () => {
  let connections: CountedConnections;
  let readings: SharedReadings;
  let changes: number | undefined;
  beforeEach(() => {
    connections = new CountedConnections();
    changes = 0;
    readings = new SharedReadings(connections.connect, () => changes);
  });

  it("share one connection and one list of the Nodes, one after another and at the same time", async () => {
    await readings.read("a", "one", list);
    await Promise.all(["two", "three"].map((asker) => readings.read("a", asker, list)));
    assert.deepEqual([connections.opened, connections.lists], [1, 1]);
  });

  it("share nothing with those of another cluster", async () => {
    await Promise.all(["a", "b"].map((cluster) => readings.read(cluster, "one", list)));
    assert.deepEqual([connections.opened, connections.lists], [2, 2]);
  });

  it("never get the same answer twice: the next run reads again", async () => {
    for (let run = 1; run <= 3; run++) {
      for (const asker of ["one", "two"]) await readings.read("a", asker, list);
      assert.deepEqual([connections.opened, connections.lists, connections.closed], [run, run, run - 1]);
    }
  });

  it("get nothing from before a change, nor from during one", async () => {
    await readings.read("a", "one", list);
    changes = 1;
    await readings.read("a", "two", list);
    assert.equal(connections.lists, 2);
    changes = undefined;
    for (const asker of ["three", "four"]) await readings.read("a", asker, list);
    assert.equal(connections.lists, 4);
    changes = 2;
    await readings.read("a", "five", list);
    assert.equal(connections.lists, 5);
    // all but the last, which others may still share
    assert.equal(connections.closed, 4);
  });

  it("read again after a failure, and those that read at the same time fail alike", async () => {
    connections.answer = Promise.reject(new Error("no answer"));
    const both = await Promise.allSettled(["one", "two"].map((asker) => readings.read("a", asker, list)));
    assert.deepEqual(
      both.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    connections.answer = Promise.resolve([]);
    assert.deepEqual(await readings.read("a", "three", list), []);
    assert.deepEqual([connections.opened, connections.lists, connections.closed], [2, 2, 1]);
  });

  it("keep a connection that another run replaces until they are done", async () => {
    let answer: (nodes: Node[]) => void = () => undefined;
    connections.answer = new Promise((resolve) => (answer = resolve));
    const slow = readings.read("a", "one", list);
    changes = 1;
    const later = readings.read("a", "one", list);
    await new Promise(setImmediate);
    assert.deepEqual([connections.opened, connections.closed], [2, 0]);
    answer([]);
    await Promise.all([slow, later]);
    await new Promise(setImmediate);
    assert.deepEqual([connections.opened, connections.closed], [2, 1]);
  });
});

describe("the changes of a process", () => {
  it("are counted when they end, also by an error, and are unknown while one runs", async () => {
    const before = changesSoFar() ?? 0;
    let fail: (error: Error) => void = () => undefined;
    const { create, check, diff } = countingChanges({
      create: () => new Promise((_, reject) => (fail = reject)),
      check: () => Promise.resolve({ inputs: {}, failures: [] }),
      diff: () => Promise.resolve({ changes: true }),
    });
    await check?.({}, {});
    await diff?.("id", {}, {});
    assert.equal(changesSoFar(), before);
    const creation = create({});
    assert.equal(changesSoFar(), undefined);
    fail(new Error("half-way"));
    await assert.rejects(creation, /half-way/);
    assert.equal(changesSoFar(), before + 1);
  });
});
