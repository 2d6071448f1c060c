import type { UserAccess } from "../client/cluster-record";
import type { KubernetesClient } from "../../../lib/kubernetes";
import { type RecordChange, recordChange } from "../plan/record";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { comparingHandlers, onManagement } from "./management";
import type { RecordPruneInputs as Inputs } from "./declarations";

/** The differences in the record and in the users' access to the cluster. */
interface Comparison {
  change: RecordChange | undefined;
  access: UserAccess;
}

async function compare(management: KubernetesClient, inputs: Inputs): Promise<Comparison> {
  const { compareUserAccess, readClusterObjects, readRecord } = await import("../client/cluster-record.js");
  const [status, objects, access] = await Promise.all([
    readRecord(management, inputs),
    readClusterObjects(management, inputs),
    compareUserAccess(management, inputs),
  ]);
  const leased = inputs.leaseName !== undefined;
  return { change: status && recordChange(status, objects, { leased, now: Date.now() }), access };
}

async function prune(inputs: Inputs): Promise<void> {
  const { linesOf, patchRecord, writeUserAccess } = await import("../client/cluster-record.js");
  await onManagement("RecordPrune", inputs, "bring the record up to date", async (work) => {
    const compared = await compare(work.management, inputs);
    for (const line of [...(compared.change?.lines ?? []), ...linesOf(compared.access)]) work.progress(line);
    if (compared.change) await patchRecord(work.management, inputs, compared.change.patch);
    await writeUserAccess(work.management, inputs, compared.access);
  });
}

export const handlers: Handlers = comparingHandlers({
  type: "RecordPrune",
  field: "leaseName",
  async due(management, inputs: Inputs) {
    const { change, access } = await compare(management, inputs);
    return {
      isDue: (change?.isDue ?? false) || access.lines.length > 0,
      lines: [...(change?.lines ?? []), ...access.lines],
      problem: access.problem,
    };
  },
  write: prune,
});
