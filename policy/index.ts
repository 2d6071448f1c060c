// The policy pack: `pulumi preview --policy-pack policy` (docs/policies.md).
import {
  type PolicyConfigSchema,
  PolicyPack,
  type PolicyResource as EngineResource,
  type ResourceValidationArgs,
} from "@pulumi/policy";
import { parseJson } from "../lib/json";
import { engineSignal } from "../lib/process/parent-watch";
import { parseUrn } from "../lib/pulumi/state";
import { displayWarnings } from "../lib/text/warnings";
import { formatViolation, isMandatory, POLICY_LEVELS_VARIABLE } from "../lib/text/policy-violation";
import { knownValues } from "./known-values";
import { assertParameters } from "./plan/parameters";
import type { Violation, PolicyResource, ResourceRule, StackRule } from "./plan/rule";
import { packRules } from "./plan/rules";

displayWarnings();

/** Set by `foresail`, which reads violations as lines. */
const levels = process.env[POLICY_LEVELS_VARIABLE];

const resourceOf = ({
  urn,
  type,
  name,
  props,
  opts,
}: ResourceValidationArgs | EngineResource): PolicyResource => ({
  urn,
  type,
  name,
  values: knownValues(props as Record<string, unknown>),
  isProtected: opts.protect,
});

/** Returns the engine's message of a finding, and prints it as a line if `foresail` reads lines. */
function reported(rule: string, urn: string, { problem, fix }: Violation): string {
  if (levels !== undefined) {
    const { type, name } = parseUrn(urn);
    const resource = `${type.split(":").at(-1) ?? ""} ${name}`;
    const isError = isMandatory(rule, parseJson(levels));
    console.error(formatViolation({ rule, resource, problem, fix, isMandatory: isError }));
  }
  return `${problem}\nFix: ${fix}`;
}

const schemaOf = (parameters: object): { configSchema?: PolicyConfigSchema } =>
  Object.keys(parameters).length === 0
    ? {}
    : { configSchema: { properties: parameters as PolicyConfigSchema["properties"] } };

const resourcePolicy = ({ name, description, parameters, ...rule }: ResourceRule<never>) => ({
  name,
  description,
  ...schemaOf(parameters),
  validateResource: (args: ResourceValidationArgs, report: (message: string) => void) => {
    assertParameters(name, parameters, args.getConfig());
    const findings = rule.check(resourceOf(args), args.getConfig());
    for (const finding of findings) report(reported(name, args.urn, finding));
  },
});

const stackPolicy = ({ name, description, parameters, ...rule }: StackRule<never>) => ({
  name,
  description,
  ...schemaOf(parameters),
  validateStack: (
    args: { resources: EngineResource[]; getConfig<T extends object>(): T },
    report: (message: string, urn?: string) => void,
  ) => {
    assertParameters(name, parameters, args.getConfig());
    for (const finding of rule.checkStack(args.resources.map(resourceOf), args.getConfig()))
      report(reported(name, finding.urn ?? "", finding), finding.urn);
  },
});

// an engine that is killed leaves no pack behind
engineSignal().signal.addEventListener("abort", () => process.exit(1));

const { resources, stack } = packRules(new Date().toISOString().slice(0, 10));
new PolicyPack("foresail", {
  enforcementLevel: "mandatory",
  policies: [...resources.map(resourcePolicy), ...stack.map(stackPolicy)],
});
