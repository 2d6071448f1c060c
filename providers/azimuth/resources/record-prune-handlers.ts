import type { UserAccess } from "../client/cluster-record";
import type { KubernetesClient } from "../../../lib/kubernetes";
import { type RecordChange, recordChange } from "../plan/record";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { askCluster } from "../../kubernetes/resources/inputs";
import { movedFields, nameOf, progressOf } from "./cluster-inputs";
import { onManagement } from "./management";
import type { RecordPruneInputs as Inputs } from "./record-prune";

/** The differences in the record and in the users' access to the cluster. */
interface Comparison {
  change: RecordChange | undefined;
  access: UserAccess;
}

async function compare(management: KubernetesClient, inputs: Inputs): Promise<Comparison> {
  const { readClusterObjects, readRecord } = await import("../client/cluster-record.js");
  const { compareUserAccess } = await import("../client/cluster-record.js");
  const [status, objects, access] = await Promise.all([
    readRecord(management, inputs),
    readClusterObjects(management, inputs),
    compareUserAccess(management, inputs),
  ]);
  const leased = inputs.leaseName !== undefined;
  return { change: status && recordChange(status, objects, { leased, now: Date.now() }), access };
}

async function prune(inputs: Inputs): Promise<Inputs> {
  const { patchRecord } = await import("../client/cluster-record.js");
  const { linesOf, writeUserAccess } = await import("../client/cluster-record.js");
  await onManagement("RecordPrune", inputs, "bring the record up to date", async (work) => {
    const compared = await compare(work.management, inputs);
    for (const line of [...(compared.change?.lines ?? []), ...linesOf(compared.access)]) work.progress(line);
    if (compared.change) await patchRecord(work.management, inputs, compared.change.patch);
    await writeUserAccess(work.management, inputs, compared.access);
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
    if ("silence" in asked) return { changes: false };
    const { change, access } = asked.answer;
    const progress = progressOf(nameOf("RecordPrune", news));
    if (access.problem !== undefined) progress(access.problem);
    if (!change?.isDue && access.lines.length === 0) return { changes: false };
    for (const line of [...(change?.lines ?? []), ...access.lines]) progress(`will write: ${line}`);
    return { changes: true };
  },

  create: async (inputs: Inputs) => ({
    id: `${inputs.namespace}/${inputs.cluster}`,
    outs: await prune(inputs),
  }),

  update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await prune(news) }),
};
