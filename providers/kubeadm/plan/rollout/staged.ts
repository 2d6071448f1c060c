import type { RolloutStep } from "./step";
import type { DesiredRollout } from "./desired";

/**
 * Returns why a rollout can't take these steps, or undefined. The node agents have staged only the desired version
 * and the configuration's intermediate versions; a step to any other would wait for an agent that refuses it.
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
