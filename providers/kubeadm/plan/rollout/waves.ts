import { isDueInPass, passVersion, wantedVersion, type Group, type RolloutState } from "./state";
import { stepTo, type RolloutStep } from "./step";

/**
 * The waves that follow the first of a group in which every node is well and nobody else has a hand: its other due
 * nodes in order, as many at a time. The same as deciding anew after each wave, without looking at a thousand nodes
 * a thousand times.
 *
 * @param pass the version of the first wave's pass; the waves end where the cluster's pass becomes another
 * @param size how many the first wave had
 * @param carryOut called with each wave, before the next is made
 */
export function followingWaves(
  state: RolloutState,
  group: Group,
  at: { pass: string; size: number },
  carryOut: (wave: RolloutStep[]) => void,
): void {
  const calm = group.nodes.every((node) => node.ready && !node.unschedulable && !node.changesAllowed);
  if (!calm || at.size < 1) return;
  const due = group.nodes.filter((node) => isDueInPass(node, at.pass, state));
  for (let first = 0; first < due.length; first += at.size) {
    if (passVersion(state) !== at.pass) return;
    const { wish: desired } = state;
    carryOut(
      due
        .slice(first, first + at.size)
        .map((node) => stepTo(node, group.pool.name, desired, wantedVersion(node, at.pass, desired))),
    );
  }
}
