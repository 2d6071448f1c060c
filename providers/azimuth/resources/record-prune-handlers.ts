import type { Handlers } from "../../../lib/pulumi/handler-types";
import type { RecordComparison } from "../client/cluster-record";
import type { RecordPruneInputs as Inputs } from "./declarations";
import { comparingHandlers } from "./management";

const loaded = () => import("../client/cluster-record.js");

export const handlers: Handlers = comparingHandlers<Inputs, RecordComparison>({
  type: "RecordPrune",
  field: "leaseName",
  step: "bring the record up to date",
  compare: async (management, inputs) => (await loaded()).compareRecord(management, inputs),
  write: async (management, inputs, found) => (await loaded()).writeRecord(management, inputs, found),
});
