import * as pulumi from "@pulumi/pulumi";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isPlain, refuseArguments } from "../lib/pulumi/arguments";
import type { DeepInput } from "../lib/pulumi/dynamic-resource";
import { check, type Readable, readable } from "../lib/validation/check";
import type { ConfigurationPath, ValidationIssue } from "../lib/validation/validation-issue";
import { rules } from "../stacks/schema/rule";

/** The fields of a section of a stack file as arguments of a component: each may be known only during the run. */
export type ArgumentsOf<Fields> = {
  [Field in keyof Fields]: DeepInput<Exclude<Fields[Field], undefined>>;
};

/** What is checked in addition to a schema. */
export interface Rules<Schema extends z.ZodObject> {
  /** Fields whose values decide which resources there are, such as "machines.name". */
  plain?: readonly string[];
  /** Rules over several fields. */
  rules?: (value: Readable<z.output<Schema>>) => ValidationIssue[];
  /** Returns an issue as the program writes its fields, where it may write them elsewhere. */
  place?: (issue: ValidationIssue) => ValidationIssue;
}

/** Schema of a text that is wider than in a stack file, as it was in 0.1.0. @param isAccepted tells what is accepted in addition */
export const orElse = (schema: z.ZodType, isAccepted: (text: string) => boolean) =>
  rules(z.string(), (value) => (isAccepted(value) ? [] : check(schema, value, []).issues));

/** Schema of a text that programs of 0.1.0 could write as "", such as a variable that is not set: state has it as it was written. */
export const orEmptyText = (schema: z.ZodType) => orElse(schema, (text) => text === "");

/** Stands for a value that is not known yet: it has no type that a schema accepts. */
const UNKNOWN = Symbol("not known yet");

/**
 * Checks the arguments of a component like a section of a stack file, and fills in the defaults of the schema. What is known
 * only during the run is checked as soon as it is known, before a resource gets it.
 *
 * @param component its class and name, for messages
 * @returns the arguments, in which outputs of the program are outputs of checked values
 * @throws pulumi.InputPropertiesError with all issues
 */
export function checkedArguments<Schema extends z.ZodObject>(
  component: string,
  schema: Schema,
  given: object,
  rules: Rules<Schema> = {},
): z.output<Schema> {
  const { known, outputs, issues } = read(schema, given, rules);
  refuseArguments(component, issues);
  if (outputs.length === 0) return schema.parse(known);
  const refuse = refusal(component);
  const checked = withDefaults(schema, given, [], refuse);
  // rules over several fields are checked when all of them are known; what is found without secrets may be shown
  const whole = mapOutputs(schema, checked, (output) => output, false);
  const open = mapOutputs(schema, checked, withoutSecret, false);
  void outputOf([whole, open]).apply((values) => {
    const [issues = [], shown = []] = (values as unknown[]).map((value) => read(schema, value, rules).issues);
    const isShown = (issue: ValidationIssue) => shown.some((one) => isDeepStrictEqual(one, issue));
    refuseArguments(
      component,
      issues.map((issue) => (isShown(issue) ? issue : { ...issue, message: HIDDEN })),
    );
  });
  return checked as z.output<Schema>;
}

/** Returns the issues of those arguments that are known already. */
export const knownIssues = <Schema extends z.ZodObject>(
  schema: Schema,
  given: object,
  rules: Rules<Schema> = {},
): ValidationIssue[] => read(schema, given, rules).issues;

function read<Schema extends z.ZodObject>(
  schema: Schema,
  given: unknown,
  { plain = [], rules = () => [], place: placed = (issue) => issue }: Rules<Schema>,
) {
  const outputs: ConfigurationPath[] = [];
  const known = mapOutputs(schema, given, (_, path) => {
    outputs.push(path);
    return UNKNOWN;
  });
  const isOfOutput = ({ path }: ValidationIssue) =>
    outputs.some((output) => output.every((part, index) => path[index] === part));
  const undecided = outputs.flatMap((path) => {
    const place = path.filter((part) => typeof part === "string").join(".");
    const decides = plain.some((one) => `${place}.`.startsWith(`${one}.`) || one.startsWith(`${place}.`));
    return decides
      ? { path, message: "decides which resources there are; write a plain value, no output" }
      : [];
  });
  const issues = [...check(schema, known, []).issues, ...rules(readable(schema, known))];
  return {
    known,
    outputs,
    issues: [...undecided, ...issues.filter((issue) => !isOfOutput(issue))].map(placed),
  };
}

type Refusal = (issues: readonly ValidationIssue[], of: unknown) => Promise<void>;

/** Returns what refuses values that became known, without the text of those that are secret. */
const refusal =
  (component: string): Refusal =>
  async (issues, of) => {
    if (issues.length === 0) return;
    const isSecret = await pulumi.isSecret(outputOf(of));
    refuseArguments(component, isSecret ? issues.map(({ path }) => ({ path, message: HIDDEN })) : issues);
  };

const HIDDEN = "is not valid; the reason is not shown, since it is about a secret";
const withoutSecret = (output: unknown) =>
  outputOf(pulumi.isSecret(outputOf(output)).then((isSecret) => (isSecret ? UNKNOWN : output)));

const isOutput = (value: unknown): boolean => pulumi.Output.isInstance(value) || value instanceof Promise;
const isKnown: (value: unknown) => boolean = isPlain;
const outputOf = (value: unknown) =>
  pulumi.output(value as object) as unknown as pulumi.OutputInstance<unknown>;

/** Returns the schema without what makes a value optional. */
function required(schema: unknown): unknown {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return isWrapped ? required(schema.unwrap()) : schema;
}

/** Returns the schema of a field or an item. */
function partOf(schema: unknown, key: string): unknown {
  if (schema instanceof z.ZodObject) return (schema.shape as Record<string, unknown>)[key];
  if (schema instanceof z.ZodArray) return schema.element;
  return schema instanceof z.ZodRecord ? schema.valueType : undefined;
}

/** Returns a list or an object with other parts, without those that are undefined. */
function mapParts(
  value: object,
  keys: readonly string[],
  map: (part: unknown, key: string) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item: unknown, index) => map(item, String(index)));
  const parts = keys.map((key) => [key, map((value as Record<string, unknown>)[key], key)] as const);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

const isComposed = (value: unknown): value is object => typeof value === "object" && value !== null;
const below = (path: ConfigurationPath, whole: object, key: string) => [
  ...path,
  Array.isArray(whole) ? Number(key) : key,
];

/** Returns a copy without absent fields, in which each output that has rules is mapped. @param all whether to keep what has none */
function mapOutputs(
  wrapped: unknown,
  value: unknown,
  map: (output: unknown, path: ConfigurationPath) => unknown,
  all = true,
  path: ConfigurationPath = [],
): unknown {
  const schema = required(wrapped);
  if (schema instanceof z.ZodCustom) return all ? value : undefined;
  if (!isComposed(value)) return value;
  if (isOutput(value)) return map(value, path);
  return mapParts(value, Object.keys(value), (part, key) =>
    mapOutputs(partOf(schema, key), part, map, all, below(path, value, key)),
  );
}

/** Returns a value in which a symbol stands for each output that is known later still. */
const withoutOutputs = (schema: unknown, value: unknown) => mapOutputs(schema, value, () => UNKNOWN);

/** Returns a value with the defaults of its schema, in which each output is checked by its own part of the schema. */
function withDefaults(wrapped: unknown, value: unknown, path: ConfigurationPath, refuse: Refusal): unknown {
  const schema = required(wrapped);
  if (!(wrapped instanceof z.ZodType) || schema instanceof z.ZodCustom) return value;
  if (isOutput(value))
    return outputOf(value).apply(async (known) => {
      const { value: complete, issues } = check(wrapped, withoutOutputs(wrapped, known), path);
      await refuse(issues, value);
      return complete;
    });
  if (isKnown(value) || !isComposed(value)) return wrapped.parse(withoutOutputs(wrapped, value));
  const keys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : Object.keys(value);
  return mapParts(value, keys, (part, key) =>
    withDefaults(partOf(schema, key), part, below(path, value, key), refuse),
  );
}

/** Returns a checked value without the defaults that the program did not write, since its state has none of them. */
export function asWritten<Value>(checked: Value, given: unknown): Value {
  if (isOutput(given) || !isComposed(given) || !isComposed(checked)) return checked;
  const parts = checked as Record<string, unknown>;
  const written = Object.entries(given).flatMap(([key, part]: [string, unknown]) =>
    part === undefined ? [] : [key],
  );
  return mapParts(Array.isArray(given) ? checked : parts, written, (part, key) =>
    asWritten(part, (given as Record<string, unknown>)[key]),
  ) as Value;
}

/** Returns what a function makes of arguments: an output only if a part of them is known only during the run. */
export function lifted<Value extends object, Result>(
  value: Value,
  make: (known: Value) => Result,
): pulumi.Input<Result> {
  if (isKnown(value)) return make(value);
  return outputOf(value).apply<Result>((known) => make(known as Value));
}

/** Returns issues of a stack file's keys with the paths of arguments, where the fields of one key are at the top. */
export const ofSection = (key: string, issues: readonly ValidationIssue[]): ValidationIssue[] =>
  issues.map(({ path, message }) => ({ path: path[0] === key ? path.slice(1) : path, message }));
