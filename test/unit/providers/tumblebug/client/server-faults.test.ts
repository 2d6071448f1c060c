import assert from "node:assert/strict";
import { openTumblebug } from "../../../../../providers/tumblebug/client";
import {
  CONNECTION,
  CREDENTIAL,
  GENERATIONS,
  startFakeTumblebug,
  type FakeTumblebug,
} from "../../../../support/tumblebug";

/** Starts a server with a namespace before the tests of the suite that calls it. @returns it, from then on */
function withFakeTumblebug(generation: (typeof GENERATIONS)[number]): FakeTumblebug {
  const fake = {} as FakeTumblebug;
  before(async () => {
    Object.assign(fake, await startFakeTumblebug(generation));
    await fake.tumblebug.namespaces.create({ name: "ns1" });
  });
  after(() => fake.close());
  afterEach(() => fake.server.faults.clear());
  return fake;
}

describe("a temporarily failing Tumblebug server", () => {
  const fake = withFakeTumblebug("mcis");

  for (const [says, effect] of [
    ["429", { kind: "status", status: 429, message: "rate limit exceeded" }],
    ["503 of the guard against long reads", { kind: "status", status: 503, text: "" }],
    ["502 of a proxy", { kind: "status", status: 502, text: "<html>Bad Gateway</html>" }],
    ["a connection that is cut", { kind: "refused" }],
  ] as const)
    it(`reads again after ${says}`, async () => {
      fake.server.faults.add({ method: "GET", times: 1, effect });
      assert.equal((await fake.tumblebug.namespaces.read("ns1"))?.name, "ns1");
      assert.deepEqual(fake.server.faults.happened(), [1]);
    });

  it("sends a change again that was refused for too many requests", async () => {
    const { server, tumblebug } = fake;
    const effect = { kind: "status", status: 429, message: "rate limit exceeded" } as const;
    server.faults.add({ method: "POST", times: 1, effect });
    assert.equal((await tumblebug.namespaces.create({ name: "ns2" })).name, "ns2");
  });

  it("waits as long as the server asks", async () => {
    fake.server.faults.add({
      method: "GET",
      times: 1,
      effect: { kind: "status", status: 429, message: "slow", headers: { "retry-after": "1" } },
    });
    const began = Date.now();
    await fake.tumblebug.namespaces.read("ns1");
    assert.ok(Date.now() - began >= 1000, `it waited ${Date.now() - began} ms`);
  });

  for (const [says, status, code] of [
    ["is asked for too much", 429, "RateLimited"],
    ["is not there behind its proxy", 503, "Unavailable"],
  ] as const)
    it(`says so when the server ${says} until the deadline`, async () => {
      const tumblebug = await fake.open({ seconds: 0.6 });
      fake.server.faults.add({ effect: { kind: "status", status, message: "come back later" } });
      await assert.rejects(tumblebug.namespaces.read("ns1"), { code, remote: "come back later" });
    });

  it("says what the server answered last when the next answer comes too late", async () => {
    const tumblebug = await fake.open({ seconds: 1.5 });
    const message = "come back later";
    fake.server.faults.add({ times: 1, effect: { kind: "status", status: 429, message } });
    fake.server.faults.add({ effect: { kind: "silence" } });
    await assert.rejects(tumblebug.namespaces.read("ns1"), { code: "RateLimited", remote: message });
  });

  it("reports the last error of a server that does not answer", async () => {
    const tumblebug = await openTumblebug(
      { address: "http://127.0.0.1:9/tumblebug", ...CREDENTIAL, generation: "mcis" },
      { seconds: 0.5 },
    );
    await assert.rejects(tumblebug.namespaces.read("ns1"), {
      code: "TumblebugUnreachable",
      message: /got no response within 0\.5 s; last seen: .*ECONNREFUSED/,
    });
    tumblebug.close();
  });

  it("ends with its signal's reason", async () => {
    const stop = new AbortController();
    const tumblebug = await fake.open({ signal: stop.signal });
    fake.server.faults.add({ effect: { kind: "silence" } });
    const reading = tumblebug.namespaces.read("ns1");
    setTimeout(() => stop.abort(new Error("the engine goes away")), 50);
    await assert.rejects(reading, /the engine goes away/);
  });

  it("reports that a change's response was lost when nothing shows its effect", async () => {
    fake.server.faults.add({ method: "POST", effect: { kind: "refused" } });
    await assert.rejects(fake.tumblebug.namespaces.create({ name: "ns3" }), { code: "ReplyLost" });
  });

  it("reports a wrong password, and never shows it", async () => {
    const wrong = { user: "default", password: "another-long-word" };
    const tumblebug = await openTumblebug({ address: fake.address, ...wrong, generation: "mcis" });
    const shown: string[] = [];
    await assert.rejects(tumblebug.namespaces.read("ns1"), (error: Error) => {
      shown.push(error.stack ?? "", JSON.stringify(error), String(error));
      return (error as { code?: string }).code === "Unauthorized";
    });
    const encoded = Buffer.from(`${wrong.user}:${wrong.password}`).toString("base64");
    for (const words of shown) assert.ok(!words.includes(wrong.password) && !words.includes(encoded));
    tumblebug.close();
  });

  it("never shows the password that a server repeats", async () => {
    const { password } = CREDENTIAL;
    const effect = { kind: "status", status: 500, message: `login ${password} failed` } as const;
    fake.server.faults.add({ effect });
    await assert.rejects(
      fake.tumblebug.vNets.create("ns1", { name: "v", connection: CONNECTION, cidr: "", subnet: "" }),
      {
        remote: "login [secret] failed",
      },
    );
  });

  it("names the fields of a response that is not of this API, and not their values", async () => {
    fake.server.faults.add({
      method: "GET",
      effect: { kind: "status", status: 200, text: '{"id":{"secret":"hidden"}}' },
    });
    await assert.rejects(fake.tumblebug.namespaces.read("ns1"), (error: Error) => {
      assert.match(error.message, /the response does not match Tumblebug.s API: id: /);
      return !error.message.includes("hidden");
    });
  });
});

for (const generation of GENERATIONS)
  describe(`a Tumblebug server of either generation (${generation})`, () => {
    const fake = withFakeTumblebug(generation);

    it("distinguishes a missing CB-Spider from a missing connection", async () => {
      const { tumblebug, server } = fake;
      assert.equal(await tumblebug.readConnection("none"), undefined);
      assert.equal(await tumblebug.lookupSpec(CONNECTION, "none"), undefined);
      const text = "an error occurred while requesting to CB-Spider";
      server.faults.add({ path: "^/(connConfig|lookup)", effect: { kind: "status", status: 404, text } });
      await assert.rejects(tumblebug.readConnection(CONNECTION), { code: "SpiderDown" });
      await assert.rejects(tumblebug.lookupSpec(CONNECTION, "t3.medium"), { code: "SpiderDown" });
    });

    it("detects the generation of the server", async () => {
      const found = await openTumblebug({ address: fake.address, ...CREDENTIAL });
      assert.equal(found.generation, generation);
      found.close();
    });
  });

describe("an address without a Tumblebug server", () => {
  it("is recognized by its missing endpoints", async () => {
    const fake = await startFakeTumblebug("mcis");
    const settings = { address: fake.address.replace("/tumblebug", "/elsewhere"), ...CREDENTIAL };
    await assert.rejects(openTumblebug(settings), /has neither infras nor MCIS; does the address end with/);
    await fake.close();
  });
});
