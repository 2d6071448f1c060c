import type { FileDifference } from "../../../../lib/text/unified-diff";
import { messageOf } from "../../../../lib/error-message";
import { displayLine } from "../../../../lib/text/display";
import { listed, shortened } from "../../../../lib/text/quote";
import { isKnown } from "../../../../lib/unknown";
import {
  configurationData,
  configurationDifferencesScript,
  mergedConfigurationData,
  parseConfigurationDifferences,
} from "../../machine/configuration-differences";
import { mergedObjects } from "../../plan/adopted-configuration";
import { changesKubeadm } from "../../plan/configuration";
import type { Machine } from "../../plan/machine";
import { type NodeRolloutStep, nodeRolloutSteps } from "../../plan/steps";
import { readMergeable } from "../adopted-configuration";
import type { NodeRolloutInputs } from "../declarations";
import { allInParallel, withMachines } from "../machines-session";
import { readForCheck } from "../preview-reading";
import { diffLines } from "./diff-lines";

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
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
  steps: readonly NodeRolloutStep[],
): Promise<string[]> {
  const configured = steps.flatMap((step) => (step.kind === "configure" ? [step] : []));
  if (configured.length === 0) return [];
  const names = configured.map(({ machine }) => machine);
  const due = inputs.machines.filter(({ name }) => names.includes(name));
  // the version of a worker does not have the part of static pods, and what is written for them is written for all
  const kubeadm = configured.some(({ from, to }) => changesKubeadm(from, to));
  try {
    if (!isKnown(inputs.credentials)) throw new Error("no credentials for SSH are known");
    const dataOf = kubeadm ? await kubeadmData(olds, inputs) : () => "";
    return await comparedMachines(resource, inputs, due, { kubeadm, dataOf });
  } catch (error) {
    return [noDiff(due, error)];
  }
}

/** What kubeadm is asked on a machine. */
interface Asked {
  /** Whether kubeadm gets other settings. */
  kubeadm: boolean;
  /** Returns a machine's kubeadm configuration. */
  dataOf: (machine: Machine) => string;
}

/** Returns the diffs of these machines, and a line for those that can't be compared. */
async function comparedMachines(
  resource: string,
  inputs: NodeRolloutInputs,
  due: readonly Machine[],
  { kubeadm, dataOf }: Asked,
): Promise<string[]> {
  const { machines, specification, configuration, adopted, secretFiles = [] } = inputs;
  const change = { removed: configuration?.removed ?? [], kubeadm, ...(adopted ? { adopted } : {}) };
  const found = new Map<string, FileDifference[]>();
  const reasons = new Map<string, unknown>();
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  const end = Date.now() + BEGIN_MILLISECONDS;
  await withMachines(resource, { ...inputs, timeouts }, (session) =>
    allInParallel(due, async (machine) => {
      try {
        if (Date.now() > end) throw new Error("the machines before it took too long");
        const script = configurationDifferencesScript(specification, machine, machines, change);
        const answer = await session.run(machine, script, {
          seconds: COMPARE_SECONDS,
          data: dataOf(machine),
        });
        const files = parseConfigurationDifferences(answer).map((file) =>
          secretFiles.includes(file.path) ? { ...file, isSecret: true } : file,
        );
        found.set(machine.name, files);
      } catch (error) {
        reasons.set(machine.name, error);
      }
    }),
  );
  const lines = diffLines(
    "diff",
    due.flatMap(({ name: node }) => {
      const files = found.get(node);
      return files ? [{ node, files }] : [];
    }),
  );
  const missing = due.filter(({ name }) => reasons.has(name));
  return missing.length === 0 ? lines : [...lines, noDiff(missing, reasons.get(missing[0]?.name ?? ""))];
}

/** Returns the line for machines that can't be compared. */
function noDiff(machines: readonly Machine[], error: unknown): string {
  const why = shortened(displayLine(messageOf(error)), LONGEST_REASON);
  return nodeRolloutSteps.format({ kind: "noDiff", machines: listed(machines.map(({ name }) => name)), why });
}

/**
 * Returns the function for a machine's kubeadm configuration: the stack's, or in a cluster that others made the cluster's
 * own with the stack's settings, as the ClusterInit merges them.
 *
 * @throws Error when the cluster's own can't be read
 */
async function kubeadmData(
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
): Promise<Asked["dataOf"]> {
  const { adopted, specification, machines } = inputs;
  if (!adopted) return (machine) => configurationData(specification, machine, machines);
  const { facts, unread = "no kubeconfig is known" } =
    (await readForCheck(olds, inputs, readMergeable)) ?? {};
  if (!facts) throw new Error(`kubeadm's ConfigMaps could not be read: ${unread}`);
  const merged = mergedObjects(facts.objects, facts.written, specification);
  const [clusterConfiguration, kubelet] = [merged.clusterConfiguration?.object, merged.kubelet?.object];
  if (!clusterConfiguration || !kubelet)
    throw new Error("the cluster does not have kubeadm's ConfigMaps kubeadm-config and kubelet-config");
  return (machine) => mergedConfigurationData({ clusterConfiguration, kubelet }, machine);
}
