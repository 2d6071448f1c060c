import * as pulumi from "@pulumi/pulumi";
import { warn } from "./log";
import { leaveOutStack } from "./stack-traces";
import type { DeepInput } from "./dynamic-resource";
import { printable } from "../text/quote";
import { renameFields, type Renames } from "../validation/renames";
import {
  formatPath,
  issueAt,
  issueCount,
  issueLines,
  type ValidationIssue,
} from "../validation/validation-issue";

/** Returns an argument's plain value, or undefined for an Output, which is checked where its value is used. */
export function plain<T>(value: pulumi.Input<T> | undefined): T | undefined {
  return pulumi.Output.isInstance(value) || value instanceof Promise ? undefined : value;
}

/** Returns whether a value is known already with all its parts: it contains no Output and no Promise. */
export function isPlain<T>(value: DeepInput<T>): value is T & DeepInput<T>;
export function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return false;
  return Object.values(value).every((part) => isPlain(part));
}

/**
 * Refuses invalid arguments of a component before it registers any resource. A program prints the message alone.
 *
 * @param component its class and name, for messages
 * @throws pulumi.InputPropertiesError with all issues
 */
export function refuseArguments(component: string, issues: readonly ValidationIssue[]): void {
  if (issues.length === 0) return;
  const error = new pulumi.InputPropertiesError({
    message: [`${printable(component)} has ${issueCount(issues)}:`, ...issueLines(issues)].join("\n  "),
    errors: issues.map(({ path, message }) => ({ propertyPath: formatPath(path), reason: message })),
  });
  leaveOutStack(error);
  throw error;
}

/**
 * Returns a component's arguments with their current names, and warns of old ones.
 *
 * @param component its class and name, for messages
 * @throws pulumi.InputPropertiesError when an argument is given by both names
 */
export function withCurrentNames<Args extends object>(component: string, args: Args, renames: Renames): Args {
  const { value, issues, deprecations } = renameFields(args, renames);
  refuseArguments(component, issues);
  if (deprecations.length > 0)
    void warn([`${printable(component)} has old names:`, ...issueLines(deprecations)].join("\n  "));
  return value as Args;
}

/**
 * Reports a provider of Kubernetes among the options of a component that finds its cluster by a kubeconfig: it would be ignored,
 * and another cluster changed.
 */
export function kubernetesProviderIssues(options: pulumi.ComponentResourceOptions = {}): ValidationIssue[] {
  const { provider, providers = [] } = options;
  const given = [...(provider ? [provider] : []), ...Object.values(providers)] as { __pulumiType?: string }[];
  return given.some(({ __pulumiType: type }) => type === "pulumi:providers:kubernetes")
    ? issueAt(
        ["provider"],
        "is not used: the management cluster is that of `kubeconfig`; give no provider of Kubernetes",
      )
    : [];
}
