import { z } from "zod";

const seconds = () => z.int().min(1).max(86_400);

export const DrainConfiguration = z.strictObject({
  timeoutSeconds: seconds().default(300).describe("Deadline of one drain, in seconds."),
  deleteEmptyDirData: z
    .boolean()
    .default(false)
    .describe("Drain pods that hold data in an emptyDir, which is lost."),
  force: z.boolean().default(false).describe("Drain pods that no controller will start again elsewhere."),
});

export const TimeoutsConfiguration = z.strictObject({
  sshSeconds: seconds().default(300).describe("Until a machine answers SSH."),
  prepareSeconds: seconds().default(900).describe("Until a machine is prepared."),
  initSeconds: seconds().default(600).describe("Until `kubeadm init` is done."),
  joinSeconds: seconds().default(600).describe("Until a machine has joined."),
  readySeconds: seconds().default(600).describe("Until a Node is Ready."),
});
