import assert from "node:assert/strict";
import { mock } from "node:test";
import timers from "node:timers/promises";
import { newLimits, rateLimit } from "../../../../../providers/tumblebug/client/api";

/** Makes time pass only during waits, and returns functions that read and pass it. */
function fakeClock() {
  mock.reset();
  let time = 0;
  const pass = (milliseconds: number): Promise<void> => {
    const end = time + milliseconds;
    return Promise.resolve().then(() => {
      time = Math.max(time, end);
    });
  };
  mock.method(performance, "now", () => time);
  mock.method(timers, "setTimeout", pass);
  return { now: () => time, pass };
}

type Limit = ReturnType<typeof rateLimit>;

/** When each of this many requests was admitted, in milliseconds. */
async function times(limit: Limit, clock: { now(): number }, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index++) {
    await limit();
    found.push(Math.round(clock.now()));
  }
  return found;
}

describe("the limit of requests to Tumblebug", () => {
  afterEach(() => mock.reset());

  it("admits a burst and then requests at its rate", async () => {
    const clock = fakeClock();
    const found = await times(rateLimit(10, 3), clock, 6);
    assert.deepEqual(found, [0, 0, 0, 100, 200, 300]);
  });

  it("restores the burst after a pause, and no more than that", async () => {
    const clock = fakeClock();
    const limit = rateLimit(10, 3);
    await times(limit, clock, 3);
    await clock.pass(60_000);
    assert.deepEqual(await times(limit, clock, 4), [60_000, 60_000, 60_000, 60_100]);
  });

  it("keeps concurrent callers in order", async () => {
    fakeClock();
    const limit = rateLimit(10, 1);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((each) => limit().then(() => order.push(each))));
    assert.deepEqual(order, [1, 2, 3]);
  });

  it("releases the slot of a caller that gave up", async () => {
    const limit = rateLimit(1, 1);
    await limit();
    const gone = AbortSignal.abort(new Error("enough"));
    await assert.rejects(limit(gone));
    const began = Date.now();
    await limit();
    assert.ok(Date.now() - began < 1500, `it waited ${Date.now() - began} ms`);
  });

  it("never exceeds the limit of a server that allows 20 requests and 2 reads a second", async () => {
    for (const [pick, perSecond] of [
      ["overall", 20],
      ["infrastructureReads", 2],
    ] as const) {
      const clock = fakeClock();
      let [left, counted] = [perSecond, 0];
      for (const time of await times(newLimits()[pick], clock, 100)) {
        left = Math.min(perSecond, left + ((time - counted) / 1000) * perSecond) - 1;
        counted = time;
        assert.ok(left > -0.1, `${pick}: a request at ${time} ms is refused`);
      }
    }
  });
});
