import { z } from "zod";
import { listed, quoted, readAsNumber } from "../text/quote";
import { writtenDate } from "./labels";
import { unknownWord } from "./spelling";
import { type ValidationIssue, valueAt } from "./validation-issue";
import { isObject } from "../json";

/** Names of types in messages. */
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
  if (typeof value === "string") return `the text ${quoted(value)}`;
  return JSON.stringify(value) ?? "nothing";
}

const isNumber = (expected: string) => expected === "number" || expected === "int";

function sayWrongType(expected: string, value: unknown, wanted = TYPES[expected] ?? expected): string {
  if (value === undefined) return `is missing; write ${wanted}`;
  if (expected === "string" && typeof value === "number") return `${readAsNumber(value)}; put it in quotes`;
  if (expected === "string" && typeof value === "boolean")
    return `is ${value}, not a text; put it in quotes: "${value}"`;
  if (isNumber(expected) && typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value))
    return `is ${sayValue(value)}; write ${wanted}, without quotes`;
  return `is ${sayValue(value)}; write ${wanted}`;
}

/** Returns the message of a zod issue, with the fix; undefined for zod's default message. */
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
  if (issue.code === "too_big" && (typeof issue.input === "string" || Array.isArray(issue.input))) {
    const what = typeof issue.input === "string" ? "characters" : "entries";
    return `has ${issue.input.length} ${what}; write at most ${String(issue.maximum)}`;
  }
  if (issue.code === "too_big") return `is ${sayValue(issue.input)}; write ${String(issue.maximum)} or less`;
  return undefined;
};

/** Returns a hint for an invalid value that YAML converted from an unquoted date to a timestamp. */
function dateHint(value: unknown): string {
  return typeof value === "string" && writtenDate(value) !== value
    ? "; YAML read it as a date, so put what you meant in quotes"
    : "";
}

/** Returns the schema of the value at a path, without defaults, optional wrappers and transforms. */
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

/** Value and validation issues of a part of the configuration. Messages never contain any part of a secret. */
export interface Reading<Value> {
  value: Value | undefined;
  issues: ValidationIssue[];
}

/**
 * Checks a value and returns all its validation issues.
 *
 * @param root path of the value, such as ["cluster"], which is the prefix of all issue paths
 */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: ValidationIssue["path"],
): Reading<z.output<Schema>> {
  const result = schema.safeParse(value, { error: explain });
  if (result.success) return { value: result.data, issues: [] };
  const issues = result.error.issues.flatMap((issue): ValidationIssue[] => {
    const path = [...root, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
    const known = knownKeys(schemaAt(schema, issue.path));
    if (issue.code !== "unrecognized_keys") {
      const found = valueAt(value, issue.path);
      const hasFields = issue.code === "invalid_type" && issue.expected === "object" && known.length > 0;
      const said = hasFields
        ? sayWrongType("object", found, `a map with the fields ${listed(known)}`)
        : issue.message;
      return [{ path, message: `${said}${dateHint(found)}` }];
    }
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownWord(key, known) }));
  });
  return { value: undefined, issues };
}

/** The part of a value whose fields have their types. */
export type Readable<Value> = Value extends readonly (infer Item)[]
  ? Readable<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? { [Key in keyof Value]: Readable<Value[Key]> }
      : { [Field in keyof Value]?: Readable<Value[Field]> }
    : Value;

/**
 * Returns the part of a value that has the schema's types, with defaults, for rules over several fields: they are
 * checked even if other fields are invalid. Strings may break their own rules; numbers and choices are valid. An
 * unreadable item of a list of objects is {}, so that the others keep their indexes.
 */
export function readable<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
): Readable<z.output<Schema>> {
  return (read(schema, value) ?? {}) as Readable<z.output<Schema>>;
}

function read(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return read(schema.unwrap(), value) ?? read(schema.unwrap(), schema.def.defaultValue);
  if (schema instanceof z.ZodOptional) return read(schema.unwrap(), value);
  if (schema instanceof z.ZodPipe) return read(schema.in, value);
  if (schema instanceof z.ZodString) return typeof value === "string" ? value : undefined;
  if (schema instanceof z.ZodObject) {
    const fields = isObject(value) ? value : undefined;
    return (
      fields && present(Object.entries(schema.shape).map(([key, field]) => [key, read(field, fields[key])]))
    );
  }
  if (schema instanceof z.ZodRecord)
    return isObject(value)
      ? present(Object.entries(value).map(([key, item]) => [key, read(schema.valueType, item)]))
      : undefined;
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return undefined;
    const { element } = schema;
    const limits = (schema.def.checks ?? []).map(({ _zod }) => _zod.def as { maximum?: number });
    const most = Math.min(...limits.map(({ maximum = Infinity }) => maximum));
    const unreadable = element instanceof z.ZodObject ? [{}] : [];
    return value.slice(0, most).flatMap((item) => {
      const one = read(element, item);
      return one === undefined ? unreadable : [one];
    });
  }
  return schema instanceof z.ZodType ? schema.safeParse(value).data : undefined;
}

const present = (entries: [string, unknown][]) =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined));
