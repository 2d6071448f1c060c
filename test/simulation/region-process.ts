import { once } from "node:events";
import { createInterface } from "node:readline";
import { BareApiServer } from "./bare-api-server";
import type { RegionFacts, RegionOptions } from "./simulated-region";
import { SimulatedFleet } from "./simulated-fleet";

/**
 * The process of a simulated region: an API server and machines that listen on the loopback address of its network
 * namespace. The first line of its input says what to start; it ends when its input ends, as with the death of the test.
 */
async function main(): Promise<void> {
  const input = createInterface({ input: process.stdin });
  const ended = once(input, "close");
  const [line] = (await once(input, "line")) as [string];
  const { programs, machines, firstPort } = JSON.parse(line) as RegionOptions;
  const api = await new BareApiServer({ programs, controllers: ["token-cleaner-controller"] }).start();
  try {
    const fleet = await SimulatedFleet.start({ api, machines: [...machines], firstPort });
    const facts: RegionFacts = {
      folder: fleet.files.folder,
      privateKey: fleet.privateKey,
      machines: machines.map((name) => fleet.machine(name)),
    };
    process.stdout.write(`${JSON.stringify(facts)}\n`);
    await ended;
    await fleet.stop();
  } finally {
    await api.stop();
  }
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
