import { messageOf } from "../../../../lib/error-message";
import type { NodeDifferences } from "../../../../lib/text/unified-diff";
import { readDrift } from "../../client/drift";
import { namedFiles } from "../../plan/drift/drift";
import type { RolloutNode } from "../../plan/rollout/observed";
import { nodeRolloutSteps } from "../../plan/steps";
import type { NodeRolloutInputs } from "../declarations";
import { diffLines } from "../configuration/diff-lines";

/** How long a machine may take to answer a preview. */
const SECONDS = 15;
/** How many machines a preview reads for their diffs. */
const MOST_MACHINES = 10;

/**
 * Returns the remarks of a preview on files that others changed: a line for each machine on which they stay, and the
 * diffs where SSH reaches the machine. A machine that has no difference any more has no remark.
 */
export async function driftNotes(
  nodes: readonly RolloutNode[],
  { specification, machines, credentials, jumpHost, secretFiles, drift: setting }: NodeRolloutInputs,
): Promise<string[]> {
  const access = { cluster: specification.name, credentials, jumpHost, secretFiles, seconds: SECONDS };
  const differences: NodeDifferences[] = [];
  const drifted = machines.flatMap((machine) => {
    const drift = nodes.find(({ name }) => name === machine.name)?.drift;
    return drift === undefined ? [] : [{ machine, drift }];
  });
  const lines = await Promise.all(
    drifted.map(async ({ machine, drift }, at) => {
      const line = nodeRolloutSteps.format({
        kind: "drifted",
        machine: machine.name,
        files: namedFiles(drift),
      });
      // a step of the rollout names the files
      const lines = setting === "repair" ? [] : [line];
      if (at >= MOST_MACHINES) return lines;
      try {
        const answer = await readDrift(access, machine);
        if (!("files" in answer)) return lines;
        if (answer.files.length === 0) return [];
        differences[at] = { node: machine.name, files: answer.files };
        return lines;
      } catch (error) {
        return [...lines, `${machine.name}: its files could not be read for a diff: ${messageOf(error)}`];
      }
    }),
  );
  return [...lines.flat(), ...diffLines("driftDiff", Object.values(differences))];
}
