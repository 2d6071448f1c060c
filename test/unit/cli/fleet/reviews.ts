import type { FleetReview, StackReview } from "../../../../cli/fleet/plan/review";

const STEPS = [
  "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
  "w-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
];

/** The review of a stack that upgrades two nodes: what a test does not name is plain. */
export const stackReviewOf = (others: Partial<StackReview> = {}): StackReview => ({
  ...{ plan: "a".repeat(64), system: "ssh", version: { from: "1.35.4", to: "1.36.3" }, unchanged: 7 },
  counts: "2 steps in 1 resource",
  changes: [{ type: "NodeRollout", name: "eu-rollout", operation: "update", steps: STEPS }],
  machines: [
    {
      ...{ name: "cp-1", role: "control-plane", pool: "control-plane", zone: "eu-1a", change: "stays" },
      steps: STEPS.slice(0, 1),
    },
    {
      ...{ name: "w-1", role: "worker", pool: "workers", zone: "eu-1b", change: "stays" },
      steps: STEPS.slice(1),
    },
  ],
  nodeCounts: [],
  dangers: [{ kind: "control plane", words: STEPS[0]! }],
  ...{ errors: [], notes: ["NodeRollout eu-rollout: w-2 is paused: it stays at 1.35.4"] },
  diffs: [{ nodes: "cp-1, w-1", lines: ["--- /etc/motd", "+++ /etc/motd", "@@ -1 +1 @@", "-a", "+b"] }],
  ...others,
});

/** A review in which each wave has these stacks. */
export function fleetReviewOf(
  waves: Readonly<Record<string, Readonly<Record<string, StackReview>>>>,
): FleetReview {
  return {
    ...{ formatVersion: 1, project: "foresail", previewedAt: "2026-01-02T03:04:05.000Z" },
    fleet: {
      ...{ maxParallel: 2, onFailure: "stop" },
      waves: Object.entries(waves).map(([name, stacks]) => ({ name, stacks: Object.keys(stacks) })),
    },
    stacks: Object.assign({}, ...Object.values(waves)) as Record<string, StackReview>,
  };
}

/** The review of a stack where nothing changes. */
export const quietReview = (): StackReview =>
  stackReviewOf({
    changes: [],
    dangers: [],
    notes: [],
    diffs: [],
    version: { from: "1.36.3", to: "1.36.3" },
  });

/** Texts that try to leave the place where they are shown. */
export const HOSTILE = [
  "</details><script>alert(1)</script>",
  "``` @team #1 [x](javascript:alert(1))",
  "a | b | c",
  "--> <!-- foresail:other/x -->",
  "\u202egnirts\u0000",
  "\"'><img src=x onerror=alert(1)>",
  "::error::stop",
  "](http://example.com) https://example.com",
];
