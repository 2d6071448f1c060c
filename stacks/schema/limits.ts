import { DEFAULT_DRAIN, DEFAULT_TIMEOUTS } from "../../providers/kubeadm/plan/defaults";
import { z } from "zod";
import { seconds } from "./rule";

export const DrainConfiguration = z.strictObject({
  timeoutSeconds: seconds()
    .default(DEFAULT_DRAIN.timeoutSeconds)
    .describe("Deadline of one drain, in seconds."),
  deleteEmptyDirData: z
    .boolean()
    .default(false)
    .describe("Drain pods that hold data in an emptyDir, which is lost."),
  force: z.boolean().default(false).describe("Drain pods that no controller will start again elsewhere."),
});

export const TimeoutsConfiguration = z.strictObject({
  sshSeconds: seconds().default(DEFAULT_TIMEOUTS.sshSeconds).describe("Until a machine answers SSH."),
  prepareSeconds: seconds().default(DEFAULT_TIMEOUTS.prepareSeconds).describe("Until a machine is prepared."),
  initSeconds: seconds().default(DEFAULT_TIMEOUTS.initSeconds).describe("Until `kubeadm init` is done."),
  joinSeconds: seconds().default(DEFAULT_TIMEOUTS.joinSeconds).describe("Until a machine has joined."),
  readySeconds: seconds().default(DEFAULT_TIMEOUTS.readySeconds).describe("Until a Node is Ready."),
});
