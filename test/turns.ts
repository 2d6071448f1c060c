import path from "node:path";

/**
 * Test files that run on one day of six: variations of what other files test every day. `--all` and `--grep` take no notice
 * of turns (docs/adr/0097-tests-in-turn.md).
 */
export const TURNS: readonly (readonly string[])[] = [
  // management clusters
  [
    "unit/providers/kubeadm/node-agent/killed",
    "engine/annotation-policy",
    "engine/azimuth-changes",
    "engine/azimuth-example",
    "engine/azimuth-faults",
    "engine/azimuth-killed",
    "engine/azimuth-taken-back",
    "engine/azimuth-webhook",
    "engine/engine-errors",
    "engine/package-entries",
    "engine/preflight",
    "engine/pulumi-commands",
    "engine/shared-kubeconfig",
    "host/azimuth-cluster",
    "host/azimuth-displayed",
    "host/azimuth-lease",
    "host/azimuth-ready",
    "host/azimuth-resume",
    "host/azimuth-zenith",
    "e2e/certificates",
  ],
  // fleets and regions, snapshots
  [
    "unit/providers/kubeadm/node-agent/drift",
    "engine/fleet",
    "engine/fleet-machines",
    "engine/fleet-page",
    "engine/pull-request",
    "engine/reader",
    "engine/region-examples",
    "engine/regions",
    "engine/temporal",
    "engine/temporal-hostile",
    "engine/temporal-regions",
    "e2e/backup",
    "e2e/restore",
  ],
  // interrupted runs
  [
    "unit/providers/kubeadm/node-agent/configuration",
    "engine/continued-up",
    "engine/first-up",
    "engine/half-joined",
    "engine/interrupted-configuration",
    "engine/interrupted-destroy",
    "engine/interrupted-up",
    "engine/interrupted-waits",
    "engine/kept-deletions",
    "engine/targeted-up",
    "engine/unfinished-change",
    "host/interrupted-waits",
    "host/moved-endpoint",
  ],
  // OpenStack and machine pools, machines as people have them
  [
    "engine/machine-pool-docker",
    "engine/machine-pool-example",
    "engine/machine-pool-faults",
    "engine/machine-pool-killed",
    "engine/machine-pool-v1beta2",
    "engine/one-machine",
    "engine/openstack-killed",
    "engine/openstack-repairs",
    "engine/ownership",
    "engine/policy",
    "engine/prepared-again",
    "engine/sweep-configuration",
    "e2e/dirty-machines",
    "e2e/sites-packages",
    "clouds/openstack",
  ],
  // CB-Tumblebug, a site without a network
  [
    "unit/providers/kubeadm/node-agent/going-back",
    "engine/given-up",
    "engine/layers",
    "engine/network-plugin",
    "engine/reviewed-up",
    "engine/saved-state",
    "engine/simulation",
    "engine/stack-files",
    "engine/state-servers",
    "engine/troubled-cluster",
    "engine/tumblebug-killed",
    "engine/unread",
    "host/tumblebug-mcis",
    "host/tumblebug-patience",
    "host/tumblebug-plan",
    "host/tumblebug-shrink",
    "host/tumblebug-truth",
    "e2e/sites-air-gapped",
    "clouds/tumblebug",
    "clouds/tumblebug-examples",
  ],
  // rollouts on real nodes, clusters of others
  [
    "unit/providers/kubeadm/node-agent/final-failure",
    "engine/adopted",
    "engine/adopted-configuration",
    "engine/denied-evictions",
    "engine/kept-objects",
    "engine/lock",
    "engine/loopback-port",
    "engine/node-agent",
    "engine/pool-settings",
    "engine/refused-writes",
    "engine/stopped-agents",
    "engine/sweep",
    "engine/sweep-rollout",
    "engine/unreachable",
    "host/node-rollout-limits",
    "host/stack-ownership",
    "rollout/rollout",
    "e2e/adopted",
    "faults/kills",
  ],
];

const DAY_MILLISECONDS = 86_400_000;

/** Returns whose turn a day is, from 1. */
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
