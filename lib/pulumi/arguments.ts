import * as pulumi from "@pulumi/pulumi";
import { warn } from "./log";
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

/** Invalid arguments of a component. Pulumi prints the message alone of a RunError, without a stack trace. */
export class ArgumentsError extends pulumi.RunError {
  readonly errors: readonly { propertyPath: string; reason: string }[];

  /** @param component its class and name */
  constructor(component: string, issues: readonly ValidationIssue[]) {
    super([`${printable(component)} has ${issueCount(issues)}:`, ...issueLines(issues)].join("\n  "));
    this.errors = issues.map(({ path, message }) => ({ propertyPath: formatPath(path), reason: message }));
  }
}

/**
 * Refuses invalid arguments of a component before it registers any resource.
 *
 * @param component its class and name, for messages
 * @throws ArgumentsError with all issues
 */
export function refuseArguments(component: string, issues: readonly ValidationIssue[]): void {
  if (issues.length > 0) throw new ArgumentsError(component, issues);
}

/**
 * Returns a component's arguments with their current names, and warns of old ones.
 *
 * @param component its class and name, for messages
 * @throws ArgumentsError when an argument is given by both names
 */
export function withCurrentNames<Args extends object>(component: string, args: Args, renames: Renames): Args {
  const { value, issues, deprecations } = renameFields(args, renames);
  refuseArguments(component, issues);
  if (deprecations.length > 0)
    void warn([`${printable(component)} has old names:`, ...issueLines(deprecations)].join("\n  "));
  return value as Args;
}

/**
 * Refuses invalid arguments of a component that finds its cluster by a kubeconfig, and a provider of Kubernetes among its
 * options: it would be ignored, and another cluster changed.
 *
 * @param component its class and name, for messages
 * @throws ArgumentsError with all issues
 */
export function refuseOnCluster(
  component: string,
  options: pulumi.ComponentResourceOptions | undefined,
  issues: readonly ValidationIssue[],
): void {
  refuseArguments(component, [...issues, ...kubernetesProviderIssues(options)]);
}

function kubernetesProviderIssues(options: pulumi.ComponentResourceOptions = {}): ValidationIssue[] {
  const { provider, providers = [] } = options;
  const given = [...(provider ? [provider] : []), ...Object.values(providers)] as { __pulumiType?: string }[];
  return given.some(({ __pulumiType: type }) => type === "pulumi:providers:kubernetes")
    ? issueAt(
        ["provider"],
        "is not used: the management cluster is that of `kubeconfig`; give no provider of Kubernetes",
      )
    : [];
}
