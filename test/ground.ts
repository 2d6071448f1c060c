import type { Tier } from "./tiers";

/** Systems whose machines belong to tests; whatever runs under them after a tier was left behind. */
const TEST_FLEETS = ["e2e", "faults", "rollout", "sites"];

/**
 * Sets up what a tier stands on; nothing is loaded for a tier that needs nothing.
 * @throws Error that names what is missing and the command that mends it
 */
export async function makeGround(ground: Tier["ground"]): Promise<void> {
  if (ground === "nothing") return;
  const { setUp, TEST_NEEDS } = await import("../sandbox/set-up.js");
  const { createReporter } = await import("../sandbox/progress.js");
  const nodes = ground === "nodes";
  await setUp({ ...TEST_NEEDS, nodes, python: nodes ? ["openstack"] : [] }, createReporter());
  if (ground === "nodes") await clearGround(ground);
}

/**
 * Takes down what tests left running.
 * @returns the machines that were still there
 */
export async function clearGround(ground: Tier["ground"]): Promise<string[]> {
  if (ground !== "nodes") return [];
  const { NodeFleet } = await import("../sandbox/nodes/index.js");
  const left: string[] = [];
  for (const system of TEST_FLEETS) {
    const fleet = new NodeFleet(system);
    left.push(...(await fleet.list()).map((node) => `${system}/${node.name}`));
    await fleet.deleteAll();
  }
  const { testCloud, TEST_CLOUD_SYSTEM } = await import("./support/openstack-cloud.js");
  const cloud = testCloud();
  left.push(...(await cloud.status()).running.map((name) => `${TEST_CLOUD_SYSTEM}/${name}`));
  await cloud.delete();
  return left;
}
