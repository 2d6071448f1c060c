import type { RolloutStep } from "./step";
import type { DesiredRollout } from "./desired";

/**
 * Says why a rollout can't go its way, or undefined: the node agents hold the wished version and the intermediate ones
 * of the configuration, and a step to any other would wait for an agent that refuses it.
 */
export function refuseUnstaged(
  steps: readonly RolloutStep[],
  { version, intermediates }: Pick<DesiredRollout, "version" | "intermediates">,
): string | undefined {
  const unstaged = [...new Set(steps.map(({ to }) => to))].filter(
    (to) => to !== version && !intermediates.includes(to),
  );
  if (unstaged.length === 0) return undefined;
  return (
    `the way to ${version} leads over ${unstaged.join(", ")}, which the nodes do not have at hand: ` +
    `list it under rollout.intermediateVersions`
  );
}
