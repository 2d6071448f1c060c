import * as pulumi from "@pulumi/pulumi";
import { warn } from "./log";
import { renameFields, type Renames } from "../validation/renames";
import { formatPath, issueLines } from "../validation/validation-issue";

/**
 * Returns a component's arguments with their current names, and warns of old ones.
 *
 * @param component its class and name, for messages
 * @throws pulumi.InputPropertiesError when an argument is given by both names
 */
export function withCurrentNames<Args extends object>(component: string, args: Args, renames: Renames): Args {
  const { value, issues, deprecations } = renameFields(args, renames);
  if (issues.length > 0)
    throw new pulumi.InputPropertiesError({
      message: [`${component} has arguments with two names:`, ...issueLines(issues)].join("\n  "),
      errors: issues.map(({ path, message }) => ({ propertyPath: formatPath(path), reason: message })),
    });
  if (deprecations.length > 0)
    void warn([`${component} has old names:`, ...issueLines(deprecations)].join("\n  "));
  return value as Args;
}
