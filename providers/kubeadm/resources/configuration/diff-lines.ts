import { groupedDiffs, type NodeDifferences } from "../../../../lib/text/unified-diff";
import { nodeRolloutSteps } from "../../plan/steps";

/** Returns the diffs of nodes as lines of a preview, numbered because equal lines are shown once. */
export const diffLines = (kind: "diff" | "driftDiff", nodes: readonly NodeDifferences[]): string[] =>
  groupedDiffs(nodes).map((text, index) =>
    nodeRolloutSteps.format({ kind, at: index + 1, text: ` ${text}`.trimEnd() }),
  );
