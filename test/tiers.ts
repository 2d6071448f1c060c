/** A group of tests that needs the same ground and runs in processes of its own. */
export interface Tier {
  readonly name: TierName;
  readonly summary: string;
  /** Folders under test/. */
  readonly folders: readonly string[];
  /** Mocha's limit for one test without a limit of its own, in milliseconds. */
  readonly timeoutMilliseconds: number;
  /** The limit for the whole tier, in seconds; `--all` allows eight times as much. */
  readonly limitSeconds: number;
  /** What has to stand before the tests start. */
  readonly ground: "nothing" | "programs" | "nodes";
  /** Systems whose container nodes its tests make; whatever runs under them after the tier was left behind. */
  readonly fleets?: readonly string[];
  /** What only `--all` runs. */
  readonly night?: string;
  /** A tier that waits more than it works runs beside this one, and is shown after it. */
  readonly beside?: TierName;
}

export type TierName = "unit" | "engine" | "host" | "rollout" | "e2e" | "clouds" | "faults" | "acceptance";

/** Every tier, in the order in which `npm test` shows them: the fast ones first. */
export const TIERS: readonly Tier[] = [
  {
    name: "unit",
    summary: "decisions and single parts, offline",
    folders: ["unit"],
    timeoutMilliseconds: 20_000,
    limitSeconds: 300,
    ground: "nothing",
  },
  {
    name: "engine",
    summary: "the engine, on simulated machines and bare API servers",
    folders: ["engine"],
    timeoutMilliseconds: 180_000,
    limitSeconds: 2_400,
    ground: "programs",
    night: "kills of the engine at every step in every way",
  },
  {
    name: "host",
    summary: "the handlers in Pulumi's own process",
    folders: ["host"],
    timeoutMilliseconds: 180_000,
    limitSeconds: 2_400,
    ground: "programs",
    beside: "engine",
  },
  {
    name: "rollout",
    summary: "a version rollout on real nodes",
    folders: ["rollout"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    fleets: ["rollout"],
    beside: "engine",
  },
  {
    name: "e2e",
    summary: "real clusters on container nodes",
    folders: ["e2e"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    fleets: ["e2e", "e2e-nodes", "sites", "pool-node"],
  },
  {
    name: "clouds",
    summary: "real clusters on the machines of clouds",
    folders: ["clouds"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    fleets: ["pool-nodes"],
    night:
      "kills after every object of a cloud, rolls of three control planes there, machines that boot from its volumes, its own " +
      "cloud controller manager, the examples of OpenStack, nodes in two clouds that reach each other by translated " +
      "addresses, and a machine pool of real nodes",
    beside: "e2e",
  },
  {
    name: "faults",
    summary: "kills on real clusters",
    folders: ["faults"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "nodes",
    fleets: ["faults"],
    night: "kills at every step on real nodes",
  },
  {
    name: "acceptance",
    summary: "the client and a preview against a server that an environment variable names",
    folders: ["acceptance"],
    timeoutMilliseconds: 900_000,
    limitSeconds: 3_600,
    ground: "programs",
  },
];

/** Which of some tiers run side by side, in order: each with those that run beside it. */
export function besideEachOther(tiers: readonly Tier[]): Tier[][] {
  const names = tiers.map(({ name }) => name);
  const isBeside = ({ beside }: Tier) => beside !== undefined && names.includes(beside);
  return tiers
    .filter((tier) => !isBeside(tier))
    .map((tier) => [tier, ...tiers.filter(({ beside }) => beside === tier.name)]);
}
