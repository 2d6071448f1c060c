import { z } from "zod";
import { stackNameIssue } from "../../lib/layers/stack-name";
import { duplicateIssues } from "../../lib/validation/validation-issue";
import { MOST_GROUPS, rules, text } from "./rule";

/** Schema of `foresail:collector`. */
export const CollectorSection = z.strictObject({
  stacks: rules(z.array(text(stackNameIssue)).min(1).max(MOST_GROUPS), (names) =>
    duplicateIssues(names, (name) => name),
  ).describe(
    "Stacks whose output `kubeconfig` is collected, in the order of the contexts: stack, project/stack or organization/project/stack.",
  ),
});
export type CollectorSection = z.output<typeof CollectorSection>;
