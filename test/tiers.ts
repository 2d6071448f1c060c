/** A group of tests that needs the same environment and runs in its own processes. */
export interface Tier {
  readonly name: TierName;
  readonly summary: string;
  /** Folders under test/. */
  readonly folders: readonly string[];
  /** Mocha's limit for one test without a limit of its own, in milliseconds. */
  readonly timeoutMilliseconds: number;
  /** The limit for the whole tier, in seconds; `--all` allows eight times as much. */
  readonly limitSeconds: number;
  /**
   * How many of its files run at a time, each in a process of its own, and again if tests in it failed; default: one
   * process runs all of them, as with `--all`.
   */
  readonly processes?: number;
  /** Into how many shares its files are dealt, one process each; default: each file is one. */
  readonly shares?: number;
  /** What has to be set up before the tests start. */
  readonly ground: "nothing" | "programs" | "nodes";
  /** Systems whose container nodes its tests create; those still running after the tier are leftovers. */
  readonly fleets?: readonly string[];
  /** Versions of Kubernetes whose kubeadm's own tests judge its clusters. */
  readonly kubeadmSuites?: readonly string[];
  /** What only `--all` runs. */
  readonly night?: string;
  /**
   * How much of the machine it takes, of {@link CAPACITY}: tiers run in parallel as long as they fit. More than two at a
   * time keep each other waiting until their limits.
   */
  readonly load: 1 | 2;
}

/** The load that one machine can run at a time: one file on real nodes, and a tier of two processes. */
export const CAPACITY = 3;

export type TierName = "unit" | "engine" | "host" | "rollout" | "e2e" | "clouds" | "faults" | "acceptance";

/**
 * Every tier, in the order in which they start as far as the machine has room: files on real nodes run one after the other,
 * each beside a tier that computes.
 */
export const TIERS: readonly Tier[] = [
  {
    name: "unit",
    summary: "decisions and single parts, offline",
    load: 2,
    folders: ["unit"],
    processes: 2,
    shares: 12,
    timeoutMilliseconds: 60_000,
    limitSeconds: 1_800,
    ground: "nothing",
  },
  {
    name: "e2e",
    summary: "real clusters on container nodes",
    load: 1,
    folders: ["e2e"],
    processes: 1,
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    kubeadmSuites: ["1.36.3"],
    fleets: [
      "e2e",
      "e2e-dirt",
      "e2e-nodes",
      "recovery",
      "sites",
      "adopted",
      "held",
      "balanced",
      "moved",
      "region-eu1",
      "region-us1",
      "certs",
      "stories",
    ],
    night:
      "the rotation of the encryption key on three control planes, a pod that a budget never allows to evict, a machine that comes back empty, and adopted clusters: with another configuration and a profile, of three control " +
      "planes behind a load balancer with an upgrade, and one whose address a static pod holds; a cluster that moves to another " +
      "load balancer; two regions that are upgraded in waves; labels of a pool that change; ordinary days of a cluster, some of them by day; every change of docs/recovery.md that fails; the container image",
  },
  {
    name: "engine",
    summary: "the engine, on simulated machines and bare API servers",
    load: 2,
    processes: 2,
    folders: ["engine"],
    timeoutMilliseconds: 180_000,
    limitSeconds: 3_600,
    ground: "programs",
    night:
      "kills of the engine at every step in every way, rotations of keys, rollouts through the command and from two backends, fleets that a Temporal server runs, also of regions in network namespaces, " +
      "a fleet of ten clusters, state on real servers, and the page of a fleet in Chromium",
  },
  {
    name: "host",
    summary: "the handlers in Pulumi's own process",
    load: 2,
    processes: 2,
    folders: ["host"],
    timeoutMilliseconds: 180_000,
    limitSeconds: 2_400,
    ground: "programs",
    night: "a hundred random rollouts instead of fifty",
  },
  {
    name: "rollout",
    summary: "a version rollout on real nodes",
    load: 1,
    folders: ["rollout"],
    processes: 1,
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    kubeadmSuites: ["1.37.2"],
    fleets: ["rollout", "year", "back"],
    night:
      "a cluster over a year: two minors, a dead machine, a removed pool, a lost control plane, and a new start; another " +
      "configuration on three control planes, and machines that become another cluster; nodes that go back from a configuration " +
      "and from a version",
  },
  {
    name: "clouds",
    summary: "real clusters on the machines of clouds",
    load: 2,
    processes: 2,
    folders: ["clouds"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    fleets: ["pool-nodes"],
    night:
      "faults and kills after every object of a cloud, rolls of one and of three control planes there, machines that boot from its volumes, its own " +
      "cloud controller manager, the examples of OpenStack, nodes in two clouds that reach each other by translated " +
      "addresses, a second pool with other machines, and a machine pool of real nodes",
  },
  {
    name: "faults",
    summary: "kills on real clusters",
    load: 1,
    folders: ["faults"],
    processes: 1,
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    fleets: ["faults"],
    night: "kills at every step on real nodes",
  },
  {
    name: "acceptance",
    summary: "the client and a stack against a server that an environment variable names",
    load: 2,
    folders: ["acceptance"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "programs",
  },
];

/** Whether the next tier may start beside those that run: the whole load fits the machine, or nothing runs. */
export function mayStart(next: Pick<Tier, "load">, running: readonly Pick<Tier, "load">[]): boolean {
  const load = running.reduce<number>((sum, tier) => sum + tier.load, next.load);
  return running.length === 0 || load <= CAPACITY;
}
