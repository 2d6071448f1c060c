import fc from "fast-check";
import { KUBERNETES_MINORS } from "../../../../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { minorsBetween } from "../../../../../providers/kubeadm/plan/rollout/versions";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import {
  desiredSoftware,
  type RolloutPool,
  type DesiredRollout,
} from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nodeAt, poolsOf } from "./nodes";

export interface Scenario {
  nodes: RolloutNode[];
  desired: DesiredRollout;
}

const MINORS = [32, 33, 34, 35, 36];
const maximum = fc.oneof(
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: 1, max: 100 }).map((percent): `${number}%` => `${percent}%`),
);

/** Clusters that no run is changing, and desired states for them: some need nothing, some are impossible. */
export const restingScenario: fc.Arbitrary<Scenario> = fc
  .record({
    planes: fc.constantFrom(1, 3, 3, 5),
    pools: fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 5 }), maximum, paused: rarely(0.1), behind: fc.nat(2) }),
      { maxLength: 3 },
    ),
    minor: fc.constantFrom(...MINORS),
    ahead: fc.constantFrom(0, 0, 1, 1, 2, 3),
    patch: fc.nat(2),
    newer: fc.nat(1),
    own: fc.boolean(),
    containerd: fc.boolean(),
    configuration: fc.constantFrom(undefined, undefined, "m1.k1.p2", "m1.k2.p1", "m2.k1.p1"),
    pausedPlane: rarely(0.05),
    cordoned: fc.array(fc.nat(20), { maxLength: 2 }),
    pausedNodes: fc.array(fc.nat(20), { maxLength: 1 }),
  })
  .map((made) => {
    const minor = Math.min(made.minor, 36 - made.ahead);
    const version = `1.${minor}.${made.patch}`;
    const target =
      made.ahead === 0 ? `1.${minor}.${(made.patch + made.newer) % 3}` : known(minor + made.ahead);
    const nodes = Array.from({ length: made.planes }, (_, index) => nodeAt(`cp-${index + 1}`, version));
    made.pools.forEach(({ size, behind }, pool) => {
      const old = `1.${Math.max(31, minor - behind)}.${made.patch}`;
      for (let index = 1; index <= size; index++) nodes.push(nodeAt(`${"abc"[pool]}-${index}`, old));
    });
    const limits = Object.fromEntries(
      made.pools.map((pool, index) => ["abc"[index], { maxUnavailable: pool.maximum, paused: pool.paused }]),
    ) as Record<string, Partial<RolloutPool>>;
    for (const pick of made.cordoned) {
      const node = nodes[made.planes + (pick % Math.max(1, nodes.length - made.planes))];
      if (node) node.unschedulable = true;
    }
    const paused = made.pausedNodes.map((pick) => nodes[made.planes + (pick % nodes.length)]?.name ?? "none");
    const desired: DesiredRollout = {
      version: target,
      software: made.containerd ? { containerd: "2.2.0" } : {},
      ...(made.configuration === undefined ? {} : { configuration: versionsOf(made.configuration) }),
      intermediates: made.own ? [`1.${minor + 1}.1`] : [],
      clusterVersion: version,
      pools: poolsOf(nodes, limits),
      pausedNodes: made.pausedPlane ? [...paused, "cp-1"] : paused,
    };
    for (const node of nodes) {
      if (made.containerd) node.current.containerd = "2.1.0";
      const role = node.controlPlane ? "control-plane" : "worker";
      if (made.configuration !== undefined) node.current.configuration = versionsOf("m1.k1.p1")[role];
    }
    return { nodes, desired };
  });

/** The versions of a configuration: a worker has no static pods. */
const versionsOf = (version: string) => ({
  "control-plane": version,
  worker: version.split(".").slice(0, 2).join("."),
});

/** A cluster in which every node is somewhere on its way, as no single kill leaves it: annotations of all kinds. */
export const tangledScenario: fc.Arbitrary<Scenario> = restingScenario
  .filter(({ desired }) => desired.pausedNodes.length === 0 && desired.pools.every(({ paused }) => !paused))
  .chain(({ nodes, desired }) =>
    fc
      .array(
        fc.record({
          open: rarely(0.3),
          told: fc.constantFrom("none", "old", "target", "strange"),
          done: fc.nat(3),
          agent: fc.boolean(),
          cordoned: fc.boolean(),
          ready: fc.boolean(),
        }),
        { minLength: nodes.length, maxLength: nodes.length },
      )
      .map((states) => ({
        desired,
        nodes: nodes.map((plain, index) => tangled(plain, states[index] as Tangle, desired)),
      })),
  );

interface Tangle {
  open: boolean;
  told: string;
  done: number;
  agent: boolean;
  cordoned: boolean;
  ready: boolean;
}

function tangled(plain: RolloutNode, state: Tangle, desired: DesiredRollout): RolloutNode {
  if (!state.open) return { ...plain, unschedulable: false };
  const ahead = minorsBetween(plain.kubeletVersion, desired.version);
  // only a rollout sets desired versions, and no rollout gives a worker a newer minor before the control planes have it
  const target = ahead === 0 || (ahead === 1 && plain.controlPlane) ? desired.version : undefined;
  const told = { none: undefined, old: plain.kubeletVersion, target, strange: "1.30.9" }[state.told];
  const software = told === undefined ? {} : desiredSoftware(desired, told, plain);
  const near = told !== undefined && minorsBetween(plain.kubeletVersion, told) === 0;
  return {
    ...plain,
    changesAllowed: true,
    unschedulable: state.cordoned,
    agentReady: state.agent,
    ready: state.ready,
    desired: software,
    current: near && state.done > 0 ? { ...plain.current, kubeadm: told, kubectl: told } : plain.current,
  };
}

function rarely(chance: number): fc.Arbitrary<boolean> {
  return fc.nat(99).map((number) => number < chance * 100);
}

function known(minor: number): string {
  return KUBERNETES_MINORS[`1.${minor}`]?.patch as string;
}
