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
  parseRefusingPrograms,
} from "../../machine/configuration/configuration-differences";
import { mergedObjects } from "../../plan/adoption/adopted-configuration";
import { type ComparedNode, comparedNodes } from "../../plan/rollout/compared-nodes";
import type { Machine } from "../../plan/cluster/machine";
import { type NodeRolloutStep, nodeRolloutSteps } from "../../plan/steps";
import { readMergeable } from "../adoption/adopted-configuration";
import type { NodeRolloutInputs } from "../declarations";
import { allInParallel, withMachines } from "../session/machines-session";
import { readForCheck } from "../session/preview-reading";
import { diffLines } from "./diff-lines";

/** How long a machine may take to answer, and then to compare its files. */
const CONNECT_SECONDS = 6;
const COMPARE_SECONDS = 30;
/** No machine is asked after this time: a preview does not wait for more. */
const BEGIN_MILLISECONDS = 30_000;
/** Most characters of a reason. */
const LONGEST_REASON = 300;

/** What the machines say about a change of configuration. */
interface ConfigurationDiff {
  /** Lines of a preview that are not steps. */
  lines: string[];
  /** Why programs would end at their start with it. */
  refusals: string[];
}

/**
 * Returns what a change of configuration will change in the files of its nodes, as lines of a preview that are not steps:
 * unified diffs, from the machines over SSH, which try their programs with the new files. Nodes that can't be compared have
 * one line, with the reason of the first. Reads nothing when no such step is listed.
 */
export async function configurationDiff(
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
  steps: readonly NodeRolloutStep[],
): Promise<ConfigurationDiff> {
  const nodes = comparedNodes(steps);
  if (nodes.length === 0) return { lines: [], refusals: [] };
  const due = inputs.machines.filter(({ name }) => nodes.some(({ machine }) => machine === name));
  try {
    if (!isKnown(inputs.credentials)) throw new Error("no credentials for SSH are known");
    const dataOf = await kubeadmData(resource, olds, inputs, nodes);
    const nodeOf = ({ name }: Machine) => nodes.find(({ machine }) => machine === name);
    const compared = await compareMachines(resource, inputs, due, (machine) => ({
      data: dataOf(machine),
      etcd: nodeOf(machine)?.rendersEtcd ?? false,
      certificate: nodeOf(machine)?.createsCertificate ?? false,
    }));
    const lines = [...compared.lines, ...partialDiffs(nodes, compared.machines)];
    return { lines, refusals: compared.refusals };
  } catch (error) {
    return { lines: [noDiff(due, error)], refusals: [] };
  }
}

/** Returns a line for the nodes with a diff that is not of all their files, for each version of kubeadm. */
function partialDiffs(nodes: readonly ComparedNode[], compared: readonly string[]): string[] {
  const versions = new Set(nodes.flatMap(({ kubeadm }) => kubeadm ?? []));
  return [...versions].flatMap((version) => {
    const names = nodes.filter(({ kubeadm }) => kubeadm === version).map(({ machine }) => machine);
    const machines = names.filter((name) => compared.includes(name));
    return machines.length === 0
      ? []
      : [nodeRolloutSteps.format({ kind: "partialDiff", machines: listed(machines), version })];
  });
}

/** Returns a machine's kubeadm configuration; undefined when kubeadm writes nothing else than it has, or is not there yet. */
type DataOf = (machine: Machine) => string | undefined;

/** Returns the diffs of these machines and a line for those that can't be compared, and the names of those that were. */
async function compareMachines(
  resource: string,
  inputs: NodeRolloutInputs,
  due: readonly Machine[],
  kubeadmOf: (machine: Machine) => { data: string | undefined; etcd: boolean; certificate: boolean },
): Promise<ConfigurationDiff & { machines: string[] }> {
  const { machines, specification, configuration, adopted, secretFiles = [] } = inputs;
  const { removed = [], removedNames = [], formerEndpoints = [] } = configuration ?? {};
  const { poolPaths = [], changedPools = [] } = configuration ?? {};
  const common = {
    removed,
    poolPaths,
    changedPools,
    removedNames,
    formerEndpoints,
    ...(adopted ? { adopted } : {}),
  };
  const found = new Map<string, FileDifference[]>();
  const reasons = new Map<string, unknown>();
  const refusals = new Map<string, string[]>();
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  const end = Date.now() + BEGIN_MILLISECONDS;
  await withMachines(resource, { ...inputs, timeouts }, (session) =>
    allInParallel(due, async (machine) => {
      try {
        if (Date.now() > end) throw new Error("the machines before it took too long");
        const { data, ...parts } = kubeadmOf(machine);
        const change = { ...common, kubeadm: data !== undefined, ...parts };
        const script = configurationDifferencesScript(specification, machine, machines, change);
        const answer = await session.run(machine, script, { seconds: COMPARE_SECONDS, data: data ?? "" });
        const files = parseConfigurationDifferences(answer).map((file) =>
          secretFiles.includes(file.path) ? { ...file, isSecret: true } : file,
        );
        found.set(machine.name, files);
        refusals.set(machine.name, parseRefusingPrograms(answer).map(trialIssue));
      } catch (error) {
        reasons.set(machine.name, error);
      }
    }),
  );
  const compared = due.map(({ name }) => name).filter((name) => found.has(name));
  const lines = diffLines(
    "diff",
    compared.map((node) => ({ node, files: found.get(node) ?? [] })),
  );
  const missing = due.filter(({ name }) => reasons.has(name));
  const why = missing.length === 0 ? [] : [noDiff(missing, reasons.get(missing[0]?.name ?? ""))];
  return { lines: [...lines, ...why], refusals: refusalLines(compared, refusals), machines: compared };
}

/** Returns what is wrong with a program that does not start with the changed files, and what to do. */
export function trialIssue({ program, words }: { program: string; words: string }): string {
  const said = shortened(displayLine(words), LONGEST_REASON);
  return `${displayLine(program)} does not start with the changed settings (${said}); nothing was changed: fix them, or take them back`;
}

/** Returns each refusal once, with its machines; `machines` gives the order, because answers arrive in any. */
function refusalLines(
  machines: readonly string[],
  refusals: ReadonlyMap<string, readonly string[]>,
): string[] {
  const texts = new Set(machines.flatMap((name) => refusals.get(name) ?? []));
  return [...texts].map(
    (text) => `on ${listed(machines.filter((name) => refusals.get(name)?.includes(text)))}, ${text}`,
  );
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
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
  nodes: readonly ComparedNode[],
): Promise<DataOf> {
  const rendering = nodes.filter(({ rendersKubeadm }) => rendersKubeadm).map(({ machine }) => machine);
  if (rendering.length === 0) return () => undefined;
  const dataOf = inputs.adopted ? await mergedData(resource, olds, inputs) : givenData(inputs);
  return (machine) => (rendering.includes(machine.name) ? dataOf(machine) : undefined);
}

const givenData =
  ({ specification, machines }: NodeRolloutInputs): DataOf =>
  (machine) =>
    configurationData(specification, machine, machines);

async function mergedData(
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
): Promise<DataOf> {
  const { facts, unread = "no kubeconfig is known" } =
    (await readForCheck(`${resource}: its diff`, olds, inputs, ({ kubernetes }) =>
      readMergeable(kubernetes),
    )) ?? {};
  if (!facts) throw new Error(`kubeadm's ConfigMaps could not be read: ${unread}`);
  const merged = mergedObjects(facts.objects, facts.written, inputs.specification);
  const [clusterConfiguration, kubelet] = [merged.clusterConfiguration?.object, merged.kubelet?.object];
  if (!clusterConfiguration || !kubelet)
    throw new Error("the cluster does not have kubeadm's ConfigMaps kubeadm-config and kubelet-config");
  return (machine) => mergedConfigurationData({ clusterConfiguration, kubelet }, machine);
}
