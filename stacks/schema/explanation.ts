import { z } from "zod";
import type { Mistake } from "../../core/validation/mistake";
import { unknownWord } from "../../core/validation/spelling";

/** What a type is called in a sentence. */
const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  record: "a map of names to values",
  object: "a map of fields",
};

function sayValue(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value === "string")
    return `the text ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`;
  return JSON.stringify(value) ?? "nothing";
}

function sayWrongType(expected: string, value: unknown): string {
  const wanted = TYPES[expected] ?? expected;
  if (value === undefined) return `is missing; write ${wanted}`;
  const scalar = typeof value === "number" || typeof value === "boolean";
  if (expected === "string" && scalar) return `is ${value}, not a text; put it in quotes: "${value}"`;
  return `is ${sayValue(value)}; write ${wanted}`;
}

/** Says one of zod's own findings the way a person would mend it; undefined leaves the words to zod. */
const explain: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === "invalid_type") return sayWrongType(issue.expected, issue.input);
  if (issue.code === "invalid_value") {
    const choices = `write one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    return issue.input === undefined ? `is missing; ${choices}` : `is ${sayValue(issue.input)}; ${choices}`;
  }
  if (issue.code === "too_small") {
    if (issue.origin === "string") return "must not be empty";
    if (issue.origin === "array") return "is empty; list at least one";
    return `is ${sayValue(issue.input)}; write ${String(issue.minimum)} or more`;
  }
  if (issue.code === "too_big") return `is ${sayValue(issue.input)}; write ${String(issue.maximum)} or less`;
  return undefined;
};

/** The schema that describes the value at a path, through defaults, options and transforms. */
function schemaAt(schema: unknown, path: readonly PropertyKey[]): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return schemaAt(schema.unwrap(), path);
  }
  if (schema instanceof z.ZodPipe) return schemaAt(schema.in, path);
  const [key, ...rest] = path;
  if (key === undefined) return schema;
  if (schema instanceof z.ZodObject)
    return schemaAt((schema.shape as Record<PropertyKey, unknown>)[key], rest);
  if (schema instanceof z.ZodArray) return schemaAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return schemaAt(schema.valueType, rest);
  return undefined;
}

function knownKeys(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/**
 * Checks a value and says every mistake in it.
 * @param root where the value stands, e.g. ["cluster"]; paths of the mistakes start with it
 */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: Mistake["path"],
): { value: z.output<Schema>; mistakes: [] } | { value: undefined; mistakes: Mistake[] } {
  const result = schema.safeParse(value, { error: explain });
  if (result.success) return { value: result.data, mistakes: [] };
  const mistakes = result.error.issues.flatMap((issue): Mistake[] => {
    const path = [...root, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    const known = knownKeys(schemaAt(schema, issue.path));
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownWord(key, known) }));
  });
  return { value: undefined, mistakes };
}
