import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Transient, waitFor, WaitTimeout } from "../../../lib/wait";

const quick = { firstPauseMilliseconds: 5, longestPauseMilliseconds: 10 };

describe("waitFor", () => {
  it("returns the result of the probe that is done", async () => {
    let probes = 0;
    const probe = () => Promise.resolve(++probes < 4 ? { pending: `${probes} of 4` } : { done: "four" });
    assert.equal(await waitFor({ what: "four probes", seconds: 5, probe, ...quick }), "four");
  });

  it("fails at the deadline with the last condition in the message", async () => {
    const waiting = waitFor({
      what: "node w-1",
      seconds: 0.1,
      probe: () => Promise.resolve({ pending: "NotReady" }),
      ...quick,
    });
    await assert.rejects(waiting, (error: WaitTimeout) => {
      assert.ok(error instanceof WaitTimeout);
      assert.equal(error.message, "waited 0.1 s for node w-1; last seen: NotReady");
      assert.deepEqual([error.what, error.lastSeen, error.seconds], ["node w-1", "NotReady", 0.1]);
      return true;
    });
  });

  it("ends at the deadline although the probe hangs, and aborts the probe's signal", async () => {
    let aborted = false;
    const probe = (signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener("abort", () => (aborted = true)));
    await assert.rejects(waitFor({ what: "nothing", seconds: 0.05, probe }), WaitTimeout);
    assert.ok(aborted);
  });

  it("throws the caller's reason when aborted in a pause", async () => {
    const abort = new AbortController();
    const probe = () => {
      setTimeout(() => abort.abort(new Error("engine gone")), 5);
      return Promise.resolve({ pending: "x" });
    };
    const waiting = waitFor({ what: "x", seconds: 10, signal: abort.signal, probe });
    await assert.rejects(waiting, /engine gone/);
  });

  it("continues after a transient fault and reports it as the last condition", async () => {
    let probes = 0;
    const lines: string[] = [];
    const probe = () => {
      if (++probes === 1) throw new Transient("connection refused");
      return Promise.resolve({ done: probes });
    };
    assert.equal(
      await waitFor({ what: "SSH", seconds: 5, probe, progress: (line) => lines.push(line), ...quick }),
      2,
    );
    assert.deepEqual(lines, ["waiting for SSH, last saw connection refused, 5 s left"]);
  });

  it("ends with any other fault of the probe", async () => {
    const probe = () => Promise.reject(new TypeError("broken"));
    await assert.rejects(waitFor({ what: "x", seconds: 5, probe }), TypeError);
  });

  it("reports a condition once while it stays the same", async () => {
    const conditions = ["a", "a", "b", "b", "a"];
    const lines: string[] = [];
    const probe = () => {
      const pending = conditions.shift();
      return Promise.resolve(pending ? { pending } : { done: true });
    };
    await waitFor({ what: "x", seconds: 9, probe, progress: (line) => lines.push(line), ...quick });
    assert.deepEqual(
      lines.map((line) => /last saw (\w)/.exec(line)?.[1]),
      ["a", "b", "a"],
    );
  });
});
