import assert from "node:assert/strict";
import { openTumblebug } from "../../providers/tumblebug/client";
import { CREDENTIAL, plant, startFakeTumblebug } from "../support/tumblebug";

/** The longest time that the client waits for the response to a read. */
const READ_SECONDS = 75;

/** Makes VMs and terminates them, on a server that blocks as long as the recorded one, with a client of the default deadlines. */
async function terminateSlowly(generation: "mcis" | "infra", count: number) {
  const fake = await startFakeTumblebug(generation, { pace: 1, durations: { creation: 0 } });
  const client = await openTumblebug({ address: fake.address, ...CREDENTIAL, generation });
  try {
    const group = await plant(client);
    await client.infrastructures.create("ns1", { name: "k1", groups: [group("w", count)] });
    const began = Date.now();
    await client.infrastructures.terminate("ns1", "k1");
    const terminated = Date.now();
    const status = await client.infrastructures.read("ns1", "k1");
    return {
      seconds: (terminated - began) / 1000,
      readSeconds: (Date.now() - terminated) / 1000,
      requests: fake.server.passed.filter(({ path }) => path.includes("/control/")).length,
      states: status?.machines.map((machine) => machine.status),
    };
  } finally {
    client.close();
    await fake.close();
  }
}

describe("The client's deadlines with a Tumblebug that blocks as long as the recorded one", function () {
  this.timeout(240_000);
  let infra: ReturnType<typeof terminateSlowly>;
  let mcis: ReturnType<typeof terminateSlowly>;

  before(() => {
    infra = terminateSlowly("infra", 6);
    mcis = terminateSlowly("mcis", 6);
    // each is awaited, and may fail, in its own test
    void Promise.allSettled([infra, mcis]);
  });

  it("wait for the termination of all nodes of an infra, which is requested once", async () => {
    const { seconds, requests, states } = await infra;
    assert.ok(seconds > READ_SECONDS, `the server blocked ${seconds} s`);
    assert.equal(requests, 1);
    assert.deepEqual(states, Array<string>(6).fill("Terminated"));
  });

  it("are long enough for the first read after the VMs of an MCIS have terminated", async () => {
    const { seconds, readSeconds, requests, states } = await mcis;
    assert.ok(seconds >= 6 * 3, `the termination blocked ${seconds} s`);
    assert.ok(readSeconds >= 25, `the read blocked ${readSeconds} s`);
    assert.equal(requests, 1);
    assert.deepEqual(states, Array<string>(6).fill("Terminated"));
  });
});
