import { nameInLane } from "./lane";
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
  const { kubeadmSuites = [] } = tier;
  await setUp({ ...TEST_NEEDS, nodes, python, kubeadmSuites }, createReporter());
  await clearFixture(tier);
}

/**
 * Stops what a tier's tests left running; other tiers may still run.
 * @returns the machines that were still there
 */
export async function clearFixture({ name, fleets = [], processes = 1 }: Tier): Promise<string[]> {
  const left = await clearFleets(fleets);
  if (name === "engine")
    for (let lane = 1; lane <= processes; lane += 1) left.push(...(await clearNetworks(lane)));
  if (name === "clouds")
    for (let lane = 1; lane <= processes; lane += 1) left.push(...(await clearClouds(lane)));
  return left;
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

async function clearNetworks(lane: number): Promise<string[]> {
  const { clearNamespaces } = await import("./support/network-namespaces.js");
  return clearNamespaces(lane);
}

async function clearClouds(lane: number): Promise<string[]> {
  const { testCloud, TEST_CLOUD_SYSTEM } = await import("./support/openstack-cloud.js");
  const cloudSystem = nameInLane(TEST_CLOUD_SYSTEM, lane);
  const cloud = testCloud({}, cloudSystem);
  const { running } = await cloud.status();
  await cloud.delete();
  const { testTumblebug, TEST_TUMBLEBUG_SYSTEM } = await import("./cluster/tumblebug-test-cluster.js");
  const serverSystem = nameInLane(TEST_TUMBLEBUG_SYSTEM, lane);
  const server = testTumblebug(serverSystem);
  const isRunning = await server.isRunning();
  await server.delete();
  return [
    ...running.map((name) => `${cloudSystem}/${name}`),
    ...(isRunning ? [`${serverSystem}/server`] : []),
  ];
}
