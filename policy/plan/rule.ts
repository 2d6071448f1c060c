import { OWN_TYPES } from "../../lib/pulumi/state";

/** What a rule sees of a resource. */
export interface PolicyResource {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** Its inputs; for a rule about a whole stack its outputs, as far as they are known. A value may be UNKNOWN. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether the engine refuses to delete it. */
  readonly isProtected: boolean;
}

/** What violates a rule, and what to do about it. */
export interface Violation {
  readonly problem: string;
  readonly fix: string;
}

/** A finding about one resource of a stack; without a URN, about the stack. */
export type StackFinding = Violation & { readonly urn?: string };

/** JSON schema of a parameter. */
interface ParameterSchema<Value> {
  readonly type: "integer" | "array" | "object";
  readonly description: string;
  readonly default: Value;
  readonly items?: { readonly type: "integer" | "string" };
}

interface RuleText<Parameters> {
  /** Kebab case; never changes, since configuration files name it. */
  readonly name: string;
  /** What has to be true, in one sentence. */
  readonly description: string;
  readonly parameters: { readonly [Name in keyof Parameters]: ParameterSchema<Parameters[Name]> };
}

/** A rule about each resource by itself, before anything is done to it. */
export interface ResourceRule<Parameters = object> extends RuleText<Parameters> {
  check(resource: PolicyResource, parameters: Parameters): Violation[];
}

/** A rule about all resources of a stack together, after the preview or the run. */
export interface StackRule<Parameters = object> extends RuleText<Parameters> {
  checkStack(resources: readonly PolicyResource[], parameters: Parameters): StackFinding[];
}

/** Returns whether a resource is foresail's own of this kind, such as "ClusterInit". */
export const isOwn = ({ type }: Pick<PolicyResource, "type">, kind: string): boolean =>
  type === `${OWN_TYPES}${kind}`;

/** Returns the objects of a list; none for a value that is unknown or no list. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null);
}
