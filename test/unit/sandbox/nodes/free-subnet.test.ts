import assert from "node:assert/strict";
import { createNetwork } from "../../../../sandbox/nodes/free-subnet";
import { fleetNames } from "../../../../sandbox/nodes/names";

/** A container engine on which others take subnets between a look at them and the next call. */
class BusyEngine {
  readonly created: string[] = [];
  private readonly taken: string[] = [];

  constructor(private faster: number) {}

  subnets(): Promise<string[]> {
    return Promise.resolve([...this.taken]);
  }

  call(argv: readonly string[]): Promise<string> {
    const subnet = argv[argv.indexOf("--subnet") + 1] ?? "";
    if (this.faster > 0) {
      this.faster -= 1;
      this.taken.push(subnet);
    }
    if (this.taken.includes(subnet))
      return Promise.reject(new Error(`subnet ${subnet} is already used on the host or by another config`));
    this.created.push(subnet);
    return Promise.resolve("");
  }
}

describe("a fleet's network", () => {
  const names = fleetNames("0a1b2c3d", "e2e");

  it("takes another subnet whenever another process was faster", async () => {
    const engine = new BusyEngine(2);
    await createNetwork(engine, names);
    assert.equal(engine.created.length, 1);
  });

  it("fails with the engine's message where the subnet is as free as before", async () => {
    const engine = {
      subnets: () => Promise.resolve([]),
      call: () => Promise.reject(new Error("no netavark")),
    };
    await assert.rejects(createNetwork(engine, names), /no netavark/);
  });
});
