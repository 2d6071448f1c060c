import { z } from "zod";
import { labelsIssues, writtenDate } from "../validation/labels";

/** The schema of a stack's labels, by which `fleet.yaml` chooses it. */
export const StackLabels = z
  .record(z.string(), z.string().overwrite(writtenDate))
  .superRefine((labels, context) => {
    for (const { path, message } of labelsIssues(labels))
      context.addIssue({ code: "custom", path: [...path], message });
  });
