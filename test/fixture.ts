import type { Tier } from "./tiers";

/**
 * Sets up what a tier needs; nothing is loaded for a tier that needs nothing.
 * @throws Error that names what is missing and the command that fixes it
 */
export async function makeFixture(tier: Tier): Promise<void> {
  if (tier.ground === "nothing") return;
  const { setUp, TEST_NEEDS } = await import("../sandbox/set-up.js");
  const { createReporter } = await import("../sandbox/progress.js");
  const nodes = tier.ground === "nodes";
  const python = tier.name === "clouds" ? (["openstack"] as const) : [];
  await setUp({ ...TEST_NEEDS, nodes, python }, createReporter());
  await clearFixture(tier);
}

/**
 * Stops what a tier's tests left running; other tiers may still run.
 * @returns the machines that were still there
 */
export async function clearFixture({ name, fleets = [] }: Tier): Promise<string[]> {
  return [...(await clearFleets(fleets)), ...(name === "clouds" ? await clearClouds() : [])];
}

async function clearFleets(systems: readonly string[]): Promise<string[]> {
  if (systems.length === 0) return [];
  const { NodeFleet } = await import("../sandbox/nodes/index.js");
  const left: string[] = [];
  for (const system of systems) {
    const fleet = new NodeFleet(system);
    left.push(...(await fleet.list()).map((node) => `${system}/${node.name}`));
    await fleet.deleteAll();
  }
  return left;
}

async function clearClouds(): Promise<string[]> {
  const { testCloud, TEST_CLOUD_SYSTEM } = await import("./support/openstack-cloud.js");
  const cloud = testCloud();
  const { running } = await cloud.status();
  await cloud.delete();
  const { testTumblebug, TEST_TUMBLEBUG_SYSTEM } = await import("./cluster/tumblebug-test-cluster.js");
  const server = testTumblebug();
  const isRunning = await server.isRunning();
  await server.delete();
  return [
    ...running.map((name) => `${TEST_CLOUD_SYSTEM}/${name}`),
    ...(isRunning ? [`${TEST_TUMBLEBUG_SYSTEM}/server`] : []),
  ];
}
