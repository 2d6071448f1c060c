import assert from "node:assert/strict";
import { newLimits, TokenBucket, type Clock } from "../../../../../providers/tumblebug/client/api";

/** Time that passes only during waits. */
class FakeClock implements Clock {
  private time = 0;

  now(): number {
    return this.time;
  }

  pause(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    return Promise.resolve().then(() => {
      this.time = Math.max(this.time, end);
    });
  }
}

/** When each of this many requests was admitted, in milliseconds. */
async function times(bucket: TokenBucket, clock: Clock, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index++) {
    await bucket.take();
    found.push(Math.round(clock.now()));
  }
  return found;
}

describe("the limit of requests to Tumblebug", () => {
  it("admits a burst and then requests at its rate", async () => {
    const clock = new FakeClock();
    const found = await times(new TokenBucket(10, 3, clock), clock, 6);
    assert.deepEqual(found, [0, 0, 0, 100, 200, 300]);
  });

  it("restores the burst after a pause, and no more than that", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket(10, 3, clock);
    await times(bucket, clock, 3);
    await clock.pause(60_000);
    assert.deepEqual(await times(bucket, clock, 4), [60_000, 60_000, 60_000, 60_100]);
  });

  it("keeps concurrent callers in order", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket(10, 1, clock);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((each) => bucket.take().then(() => order.push(each))));
    assert.deepEqual(order, [1, 2, 3]);
  });

  it("releases the slot of a caller that gave up", async () => {
    const bucket = new TokenBucket(1, 1);
    await bucket.take();
    const gone = AbortSignal.abort(new Error("enough"));
    await assert.rejects(bucket.take(gone));
    const began = Date.now();
    await bucket.take();
    assert.ok(Date.now() - began < 1500, `it waited ${Date.now() - began} ms`);
  });

  it("never exceeds the limit of a server that allows 20 requests and 2 reads a second", async () => {
    for (const [pick, perSecond] of [
      ["overall", 20],
      ["infrastructureReads", 2],
    ] as const) {
      const clock = new FakeClock();
      let [left, counted] = [perSecond, 0];
      for (const time of await times(newLimits(clock)[pick], clock, 100)) {
        left = Math.min(perSecond, left + ((time - counted) / 1000) * perSecond) - 1;
        counted = time;
        assert.ok(left > -0.1, `${pick}: a request at ${time} ms is refused`);
      }
    }
  });
});
