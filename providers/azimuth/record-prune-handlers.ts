import type { KubernetesClient } from "../../clients/kubernetes";
import { type RecordChange, recordChange } from "../../core/azimuth/record";
import type { Handlers } from "../handler-types";
import { askCluster } from "../kubernetes/inputs";
import { type AzimuthInputs, movedFields, nameOf, progressOf } from "./cluster-inputs";
import { onManagement } from "./management";

interface Inputs extends AzimuthInputs {
  leaseName?: string;
}

async function compare(management: KubernetesClient, inputs: Inputs): Promise<RecordChange | undefined> {
  const { readClusterObjects, readRecord } = await import("../../clients/azimuth/cluster-record.js");
  const [status, objects] = await Promise.all([
    readRecord(management, inputs),
    readClusterObjects(management, inputs),
  ]);
  const leased = inputs.leaseName !== undefined;
  return status && recordChange(status, objects, { leased, now: Date.now() });
}

async function prune(inputs: Inputs): Promise<Inputs> {
  const { patchRecord } = await import("../../clients/azimuth/cluster-record.js");
  await onManagement("RecordPrune", inputs, "bring the record up to date", async (work) => {
    const change = await compare(work.management, inputs);
    for (const line of change?.lines ?? []) work.progress(line);
    if (change) await patchRecord(work.management, inputs, change.patch);
  });
  return inputs;
}

export const handlers: Handlers = {
  check: (_olds, news: Inputs) => Promise.resolve({ inputs: news, failures: [] }),

  async diff(_id, olds: Inputs, news: Inputs) {
    const replaces = movedFields(olds, news);
    if (replaces.length > 0) return { changes: true, replaces };
    if (olds.kubeconfig !== news.kubeconfig || olds.leaseName !== news.leaseName) return { changes: true };
    const asked = await askCluster(news, (management) => compare(management, news));
    if ("silence" in asked || !asked.answer?.isDue) return { changes: false };
    const progress = progressOf(nameOf("RecordPrune", news));
    for (const line of asked.answer.lines) progress(`will write: ${line}`);
    return { changes: true };
  },

  create: async (inputs: Inputs) => ({
    id: `${inputs.namespace}/${inputs.cluster}`,
    outs: await prune(inputs),
  }),

  update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await prune(news) }),
};
