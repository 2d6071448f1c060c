import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { isObject } from "../json";
import { check, hasOpenDefault, LATER, type Readable, readable, unwrapped } from "../validation/check";
import { unknownWord } from "../validation/spelling";
import {
  type ConfigurationPath,
  formatPath,
  issueAt,
  type ValidationIssue,
} from "../validation/validation-issue";
import { ArgumentsError, isPlain } from "./arguments";
import type { DeepInput } from "./dynamic-resource";

/** A field that may be known only during the run. */
export type Later<T> = DeepInput<Exclude<T, undefined>> | Extract<T, undefined>;

/** The fields of an object, each of which may be known only during the run, but for some. */
export type Fields<T, Plain extends string = never> = {
  [Key in keyof T]: Key extends Plain ? T[Key] : Later<T[Key]>;
};

/** What a component knows about its arguments besides their schema. */
export interface ArgumentRules<Schema extends z.ZodObject> {
  /** Class and name of the component, for messages. */
  component: string;
  /** Path of the arguments in messages. @default [] */
  root?: ConfigurationPath;
  /**
   * Arguments that have to be known when the program runs, such as "machines[].name": they decide which resources exist. Of
   * an object or list, its parts may be known later, unless the path ends with ".*".
   */
  fixed: readonly string[];
  /** Rules that depend on several arguments; absent ones are not known yet. */
  rules?: (settings: Readable<z.output<Schema>>) => readonly ValidationIssue[];
}

/** The published declarations leave these members out. */
interface Traced extends pulumi.Output<unknown> {
  isKnown: Promise<boolean>;
  isSecret: Promise<boolean>;
  promise: () => Promise<unknown>;
}

const isLater = (value: unknown): value is pulumi.Output<unknown> | Promise<unknown> =>
  pulumi.Output.isInstance(value) || value instanceof Promise;

const SECRET_ISSUE = "is not valid; the value is secret, so that this message can't say why";

/**
 * Reads the arguments of a component by the schema of a stack's configuration: the same names, defaults and rules. A part
 * that is known only during the run is checked as soon as it is known.
 */
export class ArgumentReader<Schema extends z.ZodObject> {
  /**
   * The arguments with their defaults. Parts that are known later are outputs, which fail if they are not valid. Undefined if
   * there are issues.
   */
  readonly settings: Fields<z.output<Schema>>;
  /** Issues of what is known already. */
  readonly issues: readonly ValidationIssue[];
  private refusal: Error | undefined;
  private checked: Promise<true> | undefined;

  constructor(
    private readonly schema: Schema,
    private readonly given: object,
    private readonly by: ArgumentRules<Schema>,
  ) {
    const found: ValidationIssue[] = [];
    this.settings = this.read(schema, given, [], found) as Fields<z.output<Schema>>;
    this.issues = this.located([...found, ...this.ruleIssues(given)]);
  }

  /**
   * Resolves when all that is known in this run is valid, also by rules over several arguments.
   *
   * @throws Error with all issues
   */
  get valid(): Promise<true> {
    return (this.checked ??= this.checkKnown());
  }

  /** Returns the issues of the rules over several arguments, with other values for some of them. */
  issuesWith(over: object): ValidationIssue[] {
    return this.located(this.ruleIssues({ ...this.given, ...over }));
  }

  /**
   * Returns the settings, in which everything is known but some fields.
   *
   * @param except fields that may stay outputs
   * @throws Error with all issues, and for values that this preview does not know
   */
  async known(except: readonly string[]): Promise<z.output<Schema>> {
    const decided = Object.fromEntries(Object.entries(this.given).filter(([key]) => !except.includes(key)));
    const values = (await knownParts(decided)) as object;
    const unknown = laterPaths(values).map((path) => ({ path, message: UNKNOWN_ISSUE }));
    if (unknown.length > 0) throw this.refuse(unknown);
    const found: ValidationIssue[] = [];
    const settings = this.read(this.schema, { ...this.given, ...values }, [], found) as object;
    const issues = [...found, ...this.ruleIssues({ ...this.given, ...values })];
    if (issues.length > 0) throw this.refuse(issues);
    const rest = Object.entries(this.settings).filter(([key]) => except.includes(key));
    return { ...settings, ...Object.fromEntries(rest) } as z.output<Schema>;
  }

  private async checkKnown(): Promise<true> {
    if (isPlain(this.given)) return true;
    const known = (await knownParts(this.given)) as object;
    const found: ValidationIssue[] = [];
    this.read(this.schema, known, [], found);
    const issues = [...found, ...this.ruleIssues(known)];
    if (issues.length > 0) throw this.refuse(issues);
    return true;
  }

  private ruleIssues(given: object): readonly ValidationIssue[] {
    const { rules } = this.by;
    const known = withoutLater(given);
    // a rule would take the default for the value
    if (rules === undefined || hasOpenDefault(this.schema, known)) return [];
    const open = laterPaths(known);
    return rules(readable(this.schema, known)).filter(
      ({ path }) => !open.some((later) => later.every((part, index) => path[index] === part)),
    );
  }

  private located(issues: readonly ValidationIssue[]): ValidationIssue[] {
    const { root = [] } = this.by;
    return issues.map((issue) => ({ ...issue, path: [...root, ...issue.path] }));
  }

  /** Returns one error for the component, which several outputs may end with. */
  private refuse(issues: readonly ValidationIssue[]): Error {
    return (this.refusal ??= new ArgumentsError(this.by.component, this.located(issues)));
  }

  private read(schema: unknown, value: unknown, path: ConfigurationPath, found: ValidationIssue[]): unknown {
    if (value === LATER) return undefined;
    if (isLater(value)) {
      if (this.isFixed(path)) found.push({ path, message: FIXED_ISSUE });
      return this.later(schema, value, path);
    }
    if (isKnown(value)) {
      const { value: settings, issues } = check(schema as z.ZodType, value, path);
      found.push(...issues);
      return settings;
    }
    const inner = unwrapped(schema);
    if (inner instanceof z.ZodObject && isObject(value)) return this.object(inner, value, path, found);
    if (inner instanceof z.ZodArray && Array.isArray(value))
      return value.map((item, index) => this.read(inner.element, item, [...path, index], found));
    if (inner instanceof z.ZodRecord && isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          this.read(inner.valueType, item, [...path, key], found),
        ]),
      );
    return this.later(schema, value, path);
  }

  private object(
    { shape }: z.ZodObject,
    value: Readonly<Record<string, unknown>>,
    path: ConfigurationPath,
    found: ValidationIssue[],
  ): object {
    const known = Object.keys(shape);
    for (const key of Object.keys(value))
      if (!known.includes(key)) found.push({ path: [...path, key], message: unknownWord(key, known) });
    const fields = Object.entries(shape).map(
      ([key, field]) => [key, this.read(field, value[key], [...path, key], found)] as const,
    );
    return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
  }

  private later(schema: unknown, value: unknown, path: ConfigurationPath): unknown {
    // the second pass makes no outputs
    if (this.settings !== undefined) return undefined;
    const output = pulumi.output(value) as Traced;
    return output.apply(async (known) => {
      // `--target` left out the resource that has it
      if (known === undefined) return undefined;
      const { value: settings, issues } = check(schema as z.ZodType, known, path);
      if (issues.length === 0) return settings;
      throw this.refuse((await output.isSecret) ? issueAt(path, SECRET_ISSUE) : issues);
    });
  }

  private isFixed(path: ConfigurationPath): boolean {
    const name = formatPath(path.map((part) => (typeof part === "number" ? 0 : part))).replaceAll(
      "[0]",
      "[]",
    );
    return this.by.fixed.some((fixed) =>
      fixed.endsWith(".*") ? name.startsWith(fixed.slice(0, -2)) : name === fixed,
    );
  }
}

const UNKNOWN_ISSUE =
  "is not known in this preview, which could not list the machines; create what it comes from first, such as by `pulumi up --target`, and then preview again";
const FIXED_ISSUE =
  "is known only during the run, and decides which resources there are; write a value that the program knows";

/** Returns whether no part of a value is an output, a promise or unknown. */
const isKnown = (value: unknown): boolean => isPlain(value) && !hasLater(value);

const hasLater = (value: unknown): boolean =>
  value === LATER || (typeof value === "object" && value !== null && Object.values(value).some(hasLater));

/** Returns the value with LATER in place of what is known later. */
function withoutLater(value: unknown): unknown {
  if (isLater(value)) return LATER;
  if (Array.isArray(value)) return value.map(withoutLater);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutLater(part)]))
    : value;
}

/** Returns the paths of what is known later. */
function laterPaths(value: unknown, path: ConfigurationPath = []): ConfigurationPath[] {
  if (value === LATER) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => laterPaths(item, [...path, index]));
  return isObject(value)
    ? Object.entries(value).flatMap(([key, part]) => laterPaths(part, [...path, key]))
    : [];
}

/** Returns the value with what is known in this run, and LATER for the rest and for what is secret. */
async function knownParts(value: unknown): Promise<unknown> {
  if (isLater(value)) {
    const output = pulumi.output(value) as Traced;
    try {
      if ((await output.isSecret) || !(await output.isKnown)) return LATER;
      return (await output.promise()) ?? LATER;
    } catch {
      // what it comes from has failed, and says so itself
      return LATER;
    }
  }
  if (Array.isArray(value)) return Promise.all(value.map(knownParts));
  if (!isObject(value)) return value;
  const parts = Object.entries(value).map(async ([key, part]) => [key, await knownParts(part)] as const);
  return Object.fromEntries(await Promise.all(parts));
}

/**
 * Returns of settings what was given, without defaults: state has this form.
 *
 * @param given the arguments that the settings were read from
 */
export function withoutDefaults<T>(settings: T, given: unknown): T {
  if (Array.isArray(settings) && Array.isArray(given))
    return settings.map((item: unknown, index) => withoutDefaults(item, given[index])) as T;
  if (!isObject(settings) || !isObject(given) || isLater(settings)) return settings;
  const fields = Object.entries(settings).filter(([key]) => given[key] !== undefined);
  return Object.fromEntries(fields.map(([key, value]) => [key, withoutDefaults(value, given[key])])) as T;
}
