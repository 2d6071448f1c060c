import { isDueInPass, passVersion, wantedVersion, type Group, type RolloutState } from "./state";
import { stepTo, type RolloutStep } from "./step";

/**
 * Carries out the waves after the first one of a group whose nodes are all Ready, uncordoned and closed: the other
 * due nodes in order, as many at a time as in the first wave. Gives the same result as deciding again after each
 * wave, but does not look at a thousand nodes a thousand times.
 *
 * @param pass version of the first wave's pass; the waves end when the cluster's pass changes
 * @param size number of nodes of the first wave
 * @param carryOut called with each wave, before the next one is computed
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
