import path from "node:path";

/**
 * Test files that run on one day of three: variations of what other files test every day. `--all` and `--grep` take no notice
 * of turns (docs/adr/0097-tests-in-turn.md).
 */
export const TURNS: readonly (readonly string[])[] = [
  // management clusters, certificates, machines as people have them
  [
    "engine/azimuth-changes",
    "engine/azimuth-example",
    "engine/azimuth-faults",
    "engine/azimuth-killed",
    "engine/azimuth-taken-back",
    "engine/azimuth-webhook",
    "engine/interrupted-configuration",
    "engine/interrupted-destroy",
    "engine/machine-pool-docker",
    "engine/machine-pool-example",
    "engine/machine-pool-faults",
    "engine/machine-pool-killed",
    "engine/sweep-configuration",
    "e2e/certificates",
    "e2e/dirty-machines",
    "clouds/openstack",
  ],
  // clouds and fleets, snapshots, a site without a network
  [
    "engine/fleet-machines",
    "engine/fleet-page",
    "engine/openstack-killed",
    "engine/openstack-repairs",
    "engine/region-examples",
    "engine/state-servers",
    "engine/tumblebug-killed",
    "e2e/backup",
    "e2e/restore",
    "e2e/sites-air-gapped",
    "clouds/tumblebug",
    "clouds/tumblebug-examples",
  ],
  // kubeadm clusters of others, interrupted runs, a site with its own repository
  [
    "engine/adopted-configuration",
    "engine/denied-evictions",
    "engine/given-up",
    "engine/half-joined",
    "engine/interrupted-up",
    "engine/interrupted-waits",
    "engine/kept-deletions",
    "engine/kept-objects",
    "engine/sweep",
    "engine/sweep-rollout",
    "engine/targeted-up",
    "e2e/adopted",
    "e2e/sites-packages",
    "faults/kills",
  ],
];

const DAY_MILLISECONDS = 86_400_000;

/** Returns whose turn a day is: 1, 2 or 3. */
export function turnOf(date: Date): number {
  return (Math.floor(date.getTime() / DAY_MILLISECONDS) % TURNS.length) + 1;
}

/** "engine/life" of "/clone/bin/test/engine/life.test.js". */
export function nameOf(compiled: string): string {
  return path.relative(__dirname, compiled).replace(/\.test\.js$/, "");
}

/** Returns the compiled test files that run in a turn, and the names of those that wait for another one. */
export function filesInTurn(
  files: readonly string[],
  turn: number,
): { readonly files: string[]; readonly waiting: string[] } {
  const others = new Set(TURNS.flatMap((names, at) => (at + 1 === turn ? [] : names)));
  const isWaiting = (file: string) => others.has(nameOf(file));
  return {
    files: files.filter((file) => !isWaiting(file)),
    waiting: files.filter(isWaiting).map(nameOf),
  };
}
