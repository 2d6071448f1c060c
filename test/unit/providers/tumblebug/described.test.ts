import assert from "node:assert/strict";
import { Described } from "../../../../providers/tumblebug/resources/described";

describe("a server's description of its API", () => {
  it("is read once per address and run, and again when there was none or ten minutes have passed", async () => {
    let now = 0;
    const described = new Described<string>(() => now);
    const asked: string[] = [];
    const of = (address: string, value?: string) =>
      described.of(address, () => {
        asked.push(address);
        return Promise.resolve(value);
      });
    assert.equal(await of("https://a", "fields"), "fields");
    assert.equal(await of("https://a", "others"), "fields");
    assert.equal(await of("https://b"), undefined);
    assert.equal(await of("https://b", "later"), "later");
    now = 10 * 60_000 + 1;
    assert.equal(await of("https://a", "others"), "others");
    assert.deepEqual(asked, ["https://a", "https://b", "https://b", "https://a"]);
  });
});
