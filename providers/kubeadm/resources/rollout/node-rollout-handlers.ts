import { isDeepStrictEqual } from "node:util";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { withGivenConfiguration } from "../../plan/configuration/rolled-configuration";
import { nodeRolloutSteps } from "../../plan/steps";
import { isKnownList, isUnknown } from "../../../../lib/unknown";
import { report, reportRecorded } from "../../../../lib/pulumi/log";
import { unreachedMachines } from "../session/machines-session";
import type { NodeRolloutInputs as Inputs, NodeRolloutOutputs as Outputs } from "../declarations";

/** Inputs for reaching the nodes; a change of them is recorded without a step on any node. */
const RECORDED = [
  "specification",
  "machines",
  "jumpHost",
  "credentials",
  "kubeconfig",
  "rollout",
  "certificates",
  "backup",
  "reportingUpdates",
] as const;

const nameOf = ({ specification }: Inputs) => `NodeRollout ${specification.name}`;

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    if (!isKnownList(news.machines) || isUnknown(news.specification)) {
      const steps = [nodeRolloutSteps.format({ kind: "unknown", until: "the machines exist" })];
      return { inputs: { ...news, steps }, failures: [] };
    }
    const { previewRollout } = await import("./preview.js");
    const desired = withGivenConfiguration(olds, news);
    const {
      refusals,
      stuck,
      unfit,
      notes,
      leftOut,
      renewing,
      renewingKubelets,
      updating,
      reportingUpdates,
      ...preview
    } = await previewRollout(nameOf(news), olds, desired);
    const { configurationDiff } = await import("../configuration/configuration-diff.js");
    const diff = await configurationDiff(nameOf(news), olds, desired, preview.steps);
    const { tryKubeProxy } = await import("../configuration/tried-kube-proxy.js");
    const proxy = await tryKubeProxy(nameOf(news), olds, desired);
    const { lostSettingLines } = await import("../adoption/lost-settings.js");
    const lost = await lostSettingLines(nameOf(news), olds, desired, preview.steps);
    const { packageOffers } = await import("./package-offers.js");
    const offers = await packageOffers(nameOf(news), desired, preview.steps);
    const { stoppedWrites } = await import("./stopped-writes.js");
    const stopped = await stoppedWrites(nameOf(news), olds, desired);
    const keys = desired.backup === undefined ? [] : await refusedKeys(desired.backup);
    const steps = preview.steps.map(nodeRolloutSteps.format);
    for (const line of [
      ...steps,
      ...notes,
      ...stopped.notes,
      ...offers.notes,
      ...proxy.notes,
      ...lost,
      ...diff.lines,
    ])
      report(nameOf(news), line);
    const reporting = reportingUpdates ? { reportingUpdates } : {};
    reportRecorded(nameOf(news), olds, { ...desired, steps, ...reporting }, RECORDED);
    return {
      inputs: {
        ...desired,
        steps,
        leftOut,
        ...(renewing ? { renewing } : {}),
        ...(renewingKubelets ? { renewingKubelets } : {}),
        ...(updating ? { updating } : {}),
        ...reporting,
      },
      failures: [
        ...stopped.refusals.map((reason) => ({ property: "cluster", reason })),
        ...diff.refusals.map((reason) => ({ property: "cluster", reason })),
        ...proxy.refusals.map((reason) => ({ property: "cluster.kubeProxy", reason })),
        ...unfit,
        ...offers.missing.map((reason) => ({ property: "cluster.rollout.software.containerd", reason })),
        ...stuck.map((reason) => ({ property: "cluster.rollout", reason })),
        ...keys.map((reason) => ({ property: "cluster.backup.recipients", reason })),
        ...refusals.map((reason) => ({ property: "cluster.version", reason })),
      ],
    };
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const recorded = RECORDED.some((key) => !isDeepStrictEqual(olds[key], news[key]));
    const unreached = isKnownList(news.machines) ? unreachedMachines(news.specification.name) : [];
    return Promise.resolve({ changes: recorded || (news.steps ?? []).length > 0 || unreached.length > 0 });
  },

  async create(inputs: Inputs) {
    const { name: id, version } = inputs.specification;
    return { id, outs: await converge(id, inputs, { nodes: [], version }) };
  },

  async update(id, olds: Outputs, news: Inputs) {
    return { outs: await converge(id, news, olds) };
  },

  async read(id, outputs: Outputs) {
    const { readCluster } = await import("../session/preview-reading.js");
    const { observeRollout } = await import("./preview.js");
    const { facts, unread } = await readCluster(nameOf(outputs), outputs.kubeconfig, (cluster) =>
      observeRollout(cluster.kubernetes, outputs, cluster),
    );
    if (facts) {
      const version = facts.desired.clusterVersion ?? outputs.version;
      return { id, props: { ...outputs, nodes: facts.outputs, version } };
    }
    report(nameOf(outputs), `could not be read, so what is recorded stays: ${unread}`);
    return { id, props: outputs };
  },
};

/** Checks the checksums of keys, which the schema does not know. */
async function refusedKeys(backup: NonNullable<Inputs["backup"]>): Promise<string[]> {
  const { recipientRefusals } = await import("../backup/rollout-snapshot.js");
  return recipientRefusals(backup);
}

async function converge(id: string, inputs: Inputs, last: Pick<Outputs, "nodes" | "version">) {
  const { convergeVersions } = await import("./run.js");
  return convergeVersions(id, nameOf(inputs), inputs, last);
}
