import { statusStampSteps } from "../plan/steps";
import { observedStatus } from "../plan/record";
import { timestamp } from "../plan/status";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { isKnown } from "../../../lib/unknown";
import type { StatusStampInputs as Inputs } from "./declarations";
import { clusterHandlers, onManagement } from "./management";

async function stamp(inputs: Inputs): Promise<Inputs> {
  const { patchRecord, readClusterObjects, readRecord } = await import("../client/cluster-record.js");
  await onManagement("StatusStamp", inputs, "write status.lastUpdated", async ({ management, progress }) => {
    const status = await readRecord(management, inputs);
    if (status === undefined) throw new Error(`there is no Cluster ${inputs.namespace}/${inputs.cluster}`);
    const options = { leased: inputs.leaseName !== undefined, now: Date.now() };
    const { phase, lastUpdated } = observedStatus(
      { ...status, lastUpdated: timestamp(options.now) },
      await readClusterObjects(management, inputs),
      options,
    );
    const isStart = inputs.moment === "start";
    // the first stamp is the start of the transition, so a repeated run does not reset it; one that is over since a run
    // has ended is another transition, whose age would make a cluster that changes count as unhealthy
    if (isStart && status.lastUpdated !== undefined && lastUpdated !== undefined)
      return progress("status.lastUpdated is set already");
    const isOver = !isStart && lastUpdated === undefined;
    await patchRecord(management, inputs, { lastUpdated: isOver ? null : timestamp(options.now) });
    progress(`status.lastUpdated is ${isOver ? `cleared, because the cluster is ${phase}` : "written"}`);
  });
  return inputs;
}

function isDue(olds: Partial<Inputs>, news: Inputs): boolean {
  return olds.fingerprint !== news.fingerprint || !isKnown(news.fingerprint);
}

export const handlers: Handlers = clusterHandlers<Inputs>({
  check(olds, news) {
    const cluster = `${news.namespace}/${news.cluster}`;
    const unlessSet = news.moment === "start" ? { unlessSet: true as const } : {};
    const steps = isDue(olds, news)
      ? [statusStampSteps.format({ kind: "stamp", cluster, ...unlessSet })]
      : [];
    return Promise.resolve({ inputs: { ...news, steps } });
  },

  isChanged: isDue,
  write: (inputs, olds) => (isDue(olds ?? {}, inputs) ? stamp(inputs) : inputs),
  id: ({ namespace, cluster, moment }) => `${namespace}/${cluster}/${moment}`,
});
