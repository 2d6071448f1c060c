import { isObject, ownValue } from "../../lib/json";
import { unknownWord } from "../../lib/validation/spelling";
import { formatPath, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import type { ResourceRule } from "./rule";

type Parameters = ResourceRule["parameters"];
interface Schema {
  readonly type: "integer" | "array" | "object";
  readonly items?: { readonly type: "integer" | "string" };
}

const WORDS = {
  integer: "a whole number of 0 or more",
  array: "a list",
  object: "a map",
  string: "a text",
} as const;

function isOf(type: keyof typeof WORDS, value: unknown): boolean {
  if (type === "integer") return Number.isSafeInteger(value) && (value as number) >= 0;
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isObject(value) : typeof value === "string";
}

/** Returns the issues of a rule's parameters: names that it does not have, and values of another type. */
export function parameterIssues(parameters: Parameters, configured: unknown): ValidationIssue[] {
  const known = parameters as Readonly<Record<string, Schema>>;
  return Object.entries(isObject(configured) ? configured : {}).flatMap(([name, value]) => {
    const schema = ownValue(known, name);
    if (schema === undefined) return issueAt([name], unknownWord(name, Object.keys(known)));
    if (!isOf(schema.type, value)) return issueAt([name], `must be ${WORDS[schema.type]}`);
    const { items } = schema;
    const list = Array.isArray(value) && items !== undefined ? (value as unknown[]) : [];
    return list.flatMap((one, index) =>
      issueAt([name, index], items && !isOf(items.type, one) ? `must be ${WORDS[items.type]}` : undefined),
    );
  });
}

/** @throws Error for parameters that a rule does not have, so that no misspelt one leaves a default in force */
export function assertParameters(rule: string, parameters: Parameters, configured: unknown): void {
  const issues = parameterIssues(parameters, configured);
  if (issues.length === 0) return;
  const lines = issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  throw new Error(
    `the parameters of the policy ${rule} are not valid: ${lines.join("; ")}; correct the policy pack's configuration`,
  );
}
