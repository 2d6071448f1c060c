import { z } from "zod";
import { DEFAULT_KEEP, folderIssue, recipientIssue } from "../../providers/kubeadm/plan/backup/backup";
import { text, whole } from "./rule";

export const BackupConfiguration = z.strictObject({
  folder: text(folderIssue).describe(
    "Folder for the snapshots, on the machine that runs foresail; a relative path is below the project's folder.",
  ),
  recipients: z
    .array(text(recipientIssue))
    .min(1, "is empty; write at least one public key of age (age1…)")
    .describe(
      "Public keys of age for which each snapshot is encrypted; a restore needs one of the private keys.",
    ),
  keep: whole(1, 1000)
    .default(DEFAULT_KEEP)
    .describe(
      "How many snapshots of the cluster stay in the folder; older ones are removed after a new one is kept.",
    ),
  keepDays: whole(1, 3650)
    .optional()
    .describe("Snapshots that are older are removed after a new one is kept. Absent: no limit."),
});
