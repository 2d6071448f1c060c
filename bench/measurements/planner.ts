import { performance } from "node:perf_hooks";
import { KUBERNETES_SOFTWARE } from "../../providers/kubeadm/plan/rollout/annotations";
import { nodeAtRest, type RolloutNode } from "../../providers/kubeadm/plan/rollout/observed";
import { planRollout } from "../../providers/kubeadm/plan/rollout/plan";
import type { DesiredRollout } from "../../providers/kubeadm/plan/rollout/desired";
import type { Measurement } from "../measurement";
import { summarize } from "../statistics";

const NODES = 1_000;
const CONTROL_PLANES = 5;
const ROUNDS = 15;
const WANTED_SECONDS = 0.1;
const FROM = "1.35.4";

/** How long a preview plans a large cluster's rollout, without reading the cluster. */
export const planner: Measurement = {
  name: "planner",
  title: "Planning a rollout",
  summary: `the steps of ${NODES} nodes to their next minor, one at a time and many`,
  async measure({ load, rounds = ROUNDS }) {
    await load.settle();
    const rows = ([1, "5%"] as const).map((maxUnavailable) => {
      const seconds: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const { nodes, desired } = cluster(maxUnavailable);
        const begin = performance.now();
        const { steps } = planRollout(nodes, desired);
        seconds.push((performance.now() - begin) / 1_000);
        if (steps.length !== NODES) throw new Error(`${steps.length} steps for ${NODES} nodes`);
      }
      const figure = summarize(seconds);
      const wanted = { words: "< 0.1 s", reached: figure.median < WANTED_SECONDS };
      return {
        what: `${NODES} nodes, \`maxUnavailable\` ${maxUnavailable}`,
        unit: "s" as const,
        figure,
        wanted,
      };
    });
    return { rows, notes: [`${CONTROL_PLANES} control planes and one pool, ${FROM} → 1.36.3.`] };
  },
};

function cluster(maxUnavailable: 1 | "5%"): { nodes: RolloutNode[]; desired: DesiredRollout } {
  const nodes = Array.from({ length: NODES }, (_, index) => node(index));
  const names = nodes.map(({ name }) => name);
  const pools = [
    { name: "control-plane", machines: names.slice(0, CONTROL_PLANES), maxUnavailable, paused: false },
    { name: "workers", machines: names.slice(CONTROL_PLANES), maxUnavailable, paused: false },
  ];
  const desired = {
    version: "1.36.3",
    software: {},
    intermediates: [],
    pausedNodes: [],
    clusterVersion: FROM,
    pools,
  };
  return { nodes, desired };
}

function node(index: number): RolloutNode {
  const controlPlane = index < CONTROL_PLANES;
  return {
    ...nodeAtRest({
      name: `node-${index}`,
      controlPlane,
      pool: controlPlane ? "control-plane" : "workers",
      kubeletVersion: FROM,
    }),
    current: Object.fromEntries(KUBERNETES_SOFTWARE.map((name) => [name, FROM])),
  };
}
