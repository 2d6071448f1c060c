import type { NodeDifferences } from "../../../../lib/text/unified-diff";
import { messageOf } from "../../../../lib/error-message";
import { displayLine } from "../../../../lib/text/display";
import { listed, shortened } from "../../../../lib/text/quote";
import { isKnown } from "../../../../lib/unknown";
import {
  configurationData,
  configurationDifferencesScript,
  parseConfigurationDifferences,
} from "../../machine/configuration-differences";
import { changesKubeadm } from "../../plan/configuration";
import { type NodeRolloutStep, nodeRolloutSteps } from "../../plan/steps";
import type { NodeRolloutInputs } from "../declarations";
import { diffLines } from "./diff-lines";
import { allInParallel, withMachines } from "../machines-session";

/** How long a machine may take to answer, and then to compare its files. */
const CONNECT_SECONDS = 6;
const COMPARE_SECONDS = 30;
/** No machine is asked after this time: a preview does not wait for more. */
const BEGIN_MILLISECONDS = 30_000;
/** Most characters of a reason. */
const LONGEST_REASON = 300;

/**
 * Returns what a change of configuration will change in the files of its nodes, as lines of a preview that are no steps:
 * unified diffs, from the machines over SSH. Nodes that can't be compared have one line, with the reason of the first.
 * Reads nothing when no such step is listed.
 */
export async function configurationDiff(
  resource: string,
  inputs: NodeRolloutInputs,
  steps: readonly NodeRolloutStep[],
): Promise<string[]> {
  const configured = steps.flatMap((step) => (step.kind === "configure" ? [step] : []));
  if (configured.length === 0) return [];
  const names = configured.map(({ machine }) => machine);
  const { machines, specification, configuration, secretFiles = [] } = inputs;
  // the version of a worker does not have the part of static pods, and what is written for them is written for all
  const kubeadm = configured.some(({ from, to }) => changesKubeadm(from, to));
  const change = { removed: configuration?.removed ?? [], kubeadm };
  const due = machines.filter(({ name }) => names.includes(name));
  const found: NodeDifferences[] = [];
  const reasons = new Map<string, string>();
  const unasked = inputs.adopted
    ? "others made this cluster, so a part of its settings is known to its machines and ConfigMaps alone"
    : isKnown(inputs.credentials)
      ? undefined
      : "no credentials for SSH are known";
  if (unasked !== undefined) for (const { name } of due) reasons.set(name, unasked);
  else {
    const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
    const end = Date.now() + BEGIN_MILLISECONDS;
    await withMachines(resource, { ...inputs, timeouts }, (session) =>
      allInParallel(due, async (machine) => {
        const { name } = machine;
        if (Date.now() > end) return void reasons.set(name, "the machines before it took too long");
        try {
          const script = configurationDifferencesScript(specification, machine, machines, change);
          const data = configurationData(specification, machine, machines);
          const answer = await session.run(machine, script, { seconds: COMPARE_SECONDS, data });
          const files = parseConfigurationDifferences(answer).map((file) =>
            secretFiles.includes(file.path) ? { ...file, isSecret: true } : file,
          );
          found.push({ node: name, files });
        } catch (error) {
          reasons.set(name, shortened(displayLine(messageOf(error)), LONGEST_REASON));
        }
      }),
    );
  }
  const inOrder = due.flatMap(({ name }) => found.filter(({ node }) => node === name));
  const lines = diffLines("diff", inOrder);
  const [first, ...others] = due.filter(({ name }) => reasons.has(name)).map(({ name }) => name);
  if (first === undefined) return lines;
  const why = reasons.get(first) ?? "";
  return [...lines, nodeRolloutSteps.format({ kind: "noDiff", machines: listed([first, ...others]), why })];
}
