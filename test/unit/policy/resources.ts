import type { PolicyResource, ResourceRule } from "../../../policy/plan/rule";
import { OWN_TYPES } from "../../../lib/pulumi/state";

export type Values = PolicyResource["values"];

/** Returns a resource of a stack. */
export const of = (type: string, values: Values, others: Partial<PolicyResource> = {}): PolicyResource => ({
  urn: `urn:pulumi:prod::foresail::${type}::onprem`,
  type,
  name: "onprem",
  values,
  isProtected: false,
  ...others,
});
/** Returns one of foresail's own resources. */
export const own = (kind: string, values: Values, others: Partial<PolicyResource> = {}) =>
  of(`${OWN_TYPES}${kind}`, values, others);

/** The parameters that a rule has without a configuration file. */
export const defaultsOf = <Parameters>({ parameters }: Pick<ResourceRule<Parameters>, "parameters">) =>
  Object.fromEntries(
    Object.entries<{ default: unknown }>(parameters).map(([name, schema]) => [name, schema.default]),
  ) as Parameters;
