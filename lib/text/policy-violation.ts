import { isObject, mapTexts, parseJson } from "../json";
import { displayText } from "./display";

/** Where a policy pack finds the enforcement levels of its rules, when its caller wants violations as lines. */
export const POLICY_LEVELS_VARIABLE = "FORESAIL_POLICY_LEVELS";

/** A violated rule of a policy pack, as the pack prints it for `foresail`: the engine's JSON does not contain it. */
export interface PolicyViolation {
  readonly rule: string;
  /** "HostKey onprem-cp-1-host-key" */
  readonly resource: string;
  readonly problem: string;
  readonly fix: string;
  /** Whether the engine refuses to continue. */
  readonly isMandatory: boolean;
}

const PREFIX = "foresail-policy ";

/** Returns the line for the engine's log, from which {@link parseViolation} reads it again. */
export const formatViolation = (violation: PolicyViolation): string =>
  PREFIX + JSON.stringify(mapTexts(violation, displayText));

/** Parses a line of the engine's log; undefined for another one. */
export function parseViolation(line: string): PolicyViolation | undefined {
  if (!line.startsWith(PREFIX)) return undefined;
  const value = parseJson(line.slice(PREFIX.length));
  if (!isObject(value)) return undefined;
  const { rule, resource, problem, fix, isMandatory } = value;
  const texts = [rule, resource, problem, fix];
  if (!texts.every((text) => typeof text === "string") || typeof isMandatory !== "boolean") return undefined;
  return value as unknown as PolicyViolation;
}

/** Returns the sentence for users. */
export const describeViolation = ({ rule, resource, problem, fix }: PolicyViolation): string =>
  `policy ${rule}: ${resource}: ${problem}; ${fix}`;

/**
 * Returns whether a rule refuses, by the enforcement levels in a pack's configuration: `{rule: level}` or
 * `{rule: {enforcementLevel: level}}`, with "all" for the others.
 */
export function isMandatory(rule: string, configuration: unknown): boolean {
  const levelOf = (name: string): unknown => {
    const entry = isObject(configuration) ? configuration[name] : undefined;
    return isObject(entry) ? entry["enforcementLevel"] : entry;
  };
  return (levelOf(rule) ?? levelOf("all") ?? "mandatory") === "mandatory";
}
