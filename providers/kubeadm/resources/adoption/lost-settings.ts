import { messageOf } from "../../../../lib/error-message";
import { displayLine } from "../../../../lib/text/display";
import { listed, shortened } from "../../../../lib/text/quote";
import { isKnown } from "../../../../lib/unknown";
import {
  parseRewritten,
  rewrittenData,
  rewrittenSettingsScript,
  writtenAddons,
} from "../../machine/adoption/rewritten-settings";
import { patchFolders, specificationOf } from "../../plan/cluster/pools";
import { mergedObjects, originalObjects } from "../../plan/adoption/adopted-configuration";
import type { KubeadmObjects } from "../../plan/adoption/adoption-facts";
import { type LostSetting, lostSettings, type RewrittenObject } from "../../plan/adoption/lost-settings";
import type { Machine } from "../../plan/cluster/machine";
import { type NodeRolloutStep, nodeRolloutSteps } from "../../plan/steps";
import { readMergeable } from "./adopted-configuration";
import type { NodeRolloutInputs } from "../declarations";
import { allInParallel, withMachines } from "../session/machines-session";
import { readForCheck } from "../session/preview-reading";

/** How long a machine may take to answer, and then to let kubeadm render what it writes. */
const CONNECT_SECONDS = 6;
const RENDER_SECONDS = 60;
/** Most characters of a reason. */
const LONGEST_REASON = 300;

/**
 * Returns what a rollout of versions takes away from machines of a cluster that others made, as lines of a preview that are
 * no steps: each setting that kubeadm does not know of a file or an object that it writes again. Machines that can't be
 * read have one line, with the reason of the first. Reads nothing when kubeadm upgrades no node.
 */
export async function lostSettingLines(
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
  steps: readonly NodeRolloutStep[],
): Promise<string[]> {
  const upgraded = steps.flatMap((step) =>
    step.kind === "upgrade" && step.how.startsWith("kubeadm") ? [step.machine] : [],
  );
  const due = inputs.adopted ? inputs.machines.filter(({ name }) => upgraded.includes(name)) : [];
  if (due.length === 0) return [];
  try {
    if (!isKnown(inputs.credentials)) throw new Error("no credentials for SSH are known");
    const { configurations, sameVersions } = await readConfigurations(resource, olds, inputs);
    return await linesOf(resource, inputs, due, { configurations, sameVersions });
  } catch (error) {
    return [noLost(due, error)];
  }
}

/** Returns kubeadm's objects that the cluster had, has and gets, and whether all control planes have one version. */
async function readConfigurations(
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
) {
  const read = await readForCheck(`${resource}: lost settings`, olds, inputs, async (cluster) => ({
    ...(await readMergeable(cluster.kubernetes)),
    nodes: await cluster.listNodes(),
  }));
  if (!read?.facts)
    throw new Error(`kubeadm's ConfigMaps could not be read: ${read?.unread ?? "no kubeconfig is known"}`);
  const { objects, written, nodes } = read.facts;
  if (!objects.clusterConfiguration || !objects.kubelet)
    throw new Error("the cluster does not have kubeadm's ConfigMaps kubeadm-config and kubelet-config");
  const merged = mergedObjects(objects, written, inputs.specification);
  const next = Object.fromEntries(
    Object.entries(merged).map(([name, settings]) => [name, settings.object]),
  ) as KubeadmObjects;
  const versions = new Set(nodes.map(({ status }) => status?.nodeInfo?.kubeletVersion));
  const configurations = [originalObjects(objects, written), objects, next];
  return { configurations, sameVersions: versions.size === 1 };
}

async function linesOf(
  resource: string,
  inputs: NodeRolloutInputs,
  due: readonly Machine[],
  { configurations, sameVersions }: { configurations: readonly KubeadmObjects[]; sameVersions: boolean },
): Promise<string[]> {
  const found = new Map<string, RewrittenObject[]>();
  const reasons = new Map<string, unknown>();
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  // kubeadm writes kube-proxy and CoreDNS with the last control plane
  const last = due.filter(({ role }) => role === "control-plane").at(-1)?.name;
  await withMachines(resource, { ...inputs, timeouts }, (session) =>
    allInParallel(due, async (machine) => {
      const addons = machine.name === last ? writtenAddons(configurations.at(-1) ?? {}) : [];
      const patches = patchFolders(specificationOf(inputs.specification, machine));
      const script = rewrittenSettingsScript({ machine, addons, patches });
      const data = rewrittenData(configurations, machine);
      try {
        const answer = await session.run(machine, script, { seconds: RENDER_SECONDS, data });
        found.set(machine.name, parseRewritten(answer));
      } catch (error) {
        reasons.set(machine.name, error);
      }
    }),
  );
  const lines = due.flatMap(({ name }) => lostLines(name, found.get(name) ?? [], sameVersions));
  const missing = due.filter(({ name }) => reasons.has(name));
  return missing.length === 0 ? lines : [...lines, noLost(missing, reasons.get(missing[0]?.name ?? ""))];
}

/** Returns the lines of a machine, and of what is in the cluster. */
function lostLines(machine: string, objects: readonly RewrittenObject[], comparesTags: boolean): string[] {
  const line = (step: NodeRolloutStep) => nodeRolloutSteps.format(step);
  const [here, shared] = [false, true].map((isShared) =>
    objects.filter(({ isOfCluster }) => isOfCluster === isShared),
  );
  const of = (some: readonly RewrittenObject[] = []): LostSetting[] => lostSettings(some, comparesTags);
  return [
    ...of(here).map((lost) => line({ kind: "lost", machine, ...lost })),
    ...of(shared).map((lost) => line({ kind: "lostOfCluster", ...lost })),
  ];
}

/** Returns the line for machines that can't be read. */
function noLost(machines: readonly Machine[], error: unknown): string {
  const why = shortened(displayLine(messageOf(error)), LONGEST_REASON);
  return nodeRolloutSteps.format({ kind: "noLost", machines: listed(machines.map(({ name }) => name)), why });
}
