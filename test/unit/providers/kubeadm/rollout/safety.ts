import assert from "node:assert/strict";
import { quorum } from "../../../../../providers/kubeadm/plan/membership/quorum";
import {
  maxUnavailableCount,
  type DesiredRollout,
} from "../../../../../providers/kubeadm/plan/rollout/desired";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { minorsBetween } from "../../../../../providers/kubeadm/plan/rollout/versions";
import type { SimulatedRollout } from "./simulated-rollout";

/** Invariants of a rollout that began in an idle cluster. */
export function safety(
  desired: DesiredRollout,
  start: readonly RolloutNode[],
): (rollout: SimulatedRollout) => void {
  const cordonedByOthers = new Set(
    start.filter(({ unschedulable }) => unschedulable).map(({ name }) => name),
  );
  return (rollout) => {
    const nodes = rollout.list();
    const planes = nodes.filter(({ controlPlane }) => controlPlane);
    const openPlanes = planes.filter(({ changesAllowed }) => changesAllowed);
    assert.ok(openPlanes.length <= 1, `two control planes at once: ${names(openPlanes)}`);
    const answering = planes.filter(({ ready }) => ready).length;
    if (planes.length > 2)
      assert.ok(answering >= quorum(planes.length), `${answering} control planes are below quorum`);
    const openWorkers = nodes.filter((node) => node.changesAllowed && !node.controlPlane);
    if (openPlanes.length > 0) assert.deepEqual(names(openWorkers), "", "workers beside a control plane");

    for (const pool of desired.pools) {
      const members = nodes.filter(({ name }) => pool.machines.includes(name));
      const away = members.filter((node) => node.changesAllowed || node.unschedulable || !node.ready);
      const own = away.filter(({ name }) => !cordonedByOthers.has(name));
      const limit =
        pool.name === "control-plane" ? 1 : maxUnavailableCount(pool.maxUnavailable, members.length);
      // those that others cordoned may be more than the limit by themselves: then none of ours may be away
      const room = Math.max(0, limit - (away.length - own.length));
      assert.ok(own.length <= room, `${names(away)} of ${pool.name} away, ${limit} may be`);
    }
    for (const node of nodes) {
      const told = node.desired.kubelet;
      if (told !== undefined)
        assert.ok(minorsBetween(node.kubeletVersion, told) <= 1, `${node.name} skips a minor`);
      assert.ok(
        minorsBetween(node.kubeletVersion, desired.version) >= 0,
        `${node.name} went beyond the target`,
      );
    }
    const lowestPlane = planes.map(({ kubeletVersion }) => kubeletVersion);
    for (const worker of nodes.filter(({ controlPlane }) => !controlPlane)) {
      for (const plane of lowestPlane) {
        assert.ok(
          minorsBetween(plane, worker.kubeletVersion) <= 0,
          `${worker.name} is newer than a control plane`,
        );
        assert.ok(
          minorsBetween(worker.kubeletVersion, plane) <= 3,
          `${worker.name} is too old for a control plane`,
        );
      }
    }
  };
}

function names(nodes: readonly RolloutNode[]): string {
  return nodes.map(({ name }) => name).join(", ");
}
