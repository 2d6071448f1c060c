import { isObject } from "../json";
import { listed, quoted } from "../text/quote";
import { nearest } from "../validation/spelling";
import {
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../validation/validation-issue";

/** The key of the stacks whose outputs fill values, without the project. */
export const SHARED_KEY = "shared";

/** A stack whose outputs fill values. */
export interface SharedStack {
  /** "organization/project/stack" */
  readonly stack: string;
  /** undefined when there is no such stack */
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** Names of the outputs that are secret or have a secret part. */
  readonly secrets?: readonly string[];
}

/** The stacks of `foresail:shared`, by the names that references use. */
export type SharedStacks = Readonly<Record<string, SharedStack>>;

/** A value with what other stacks have for its references. */
export interface Filled {
  readonly value: unknown;
  readonly issues: readonly ValidationIssue[];
}

interface FillOptions {
  /** undefined when the configuration has no `foresail:shared`: a text is then only a text, unless it is one reference. */
  readonly stacks: SharedStacks | undefined;
  /** Whether the value is kept secret. */
  readonly isSecret: boolean;
}

const REFERENCE = /\$\{shared\.([^${}]*)\}/g;
const WHOLE = /^\$\{shared\.([^${}]*)\}$/;
/** Maximum nesting; the rules refuse a deeper value. */
const DEEPEST = 100;

/** Returns whether a value is one reference to an output: `${shared.base.networkId}`. */
export const isReference = (value: unknown): value is string =>
  typeof value === "string" && WHOLE.test(value);

/**
 * Replaces references to outputs of other stacks. A text that is one reference becomes the output's value with its type;
 * in a longer text, a reference stands for a text or a number.
 *
 * @param path of the value, for the issues
 */
export function fillShared(value: unknown, path: ConfigurationPath, options: FillOptions): Filled {
  if (path.length > DEEPEST) return { value, issues: [] };
  if (typeof value === "string") return fillText(value, path, options);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => fillShared(item, [...path, index], options));
    return { value: items.map((item) => item.value), issues: items.flatMap(({ issues }) => issues) };
  }
  if (!isObject(value)) return { value, issues: [] };
  const fields = Object.entries(value).map(
    ([name, field]) => [name, fillShared(field, [...path, name], options)] as const,
  );
  return {
    value: Object.fromEntries(fields.map(([name, field]) => [name, field.value])),
    issues: fields.flatMap(([, { issues }]) => issues),
  };
}

function fillText(text: string, path: ConfigurationPath, { stacks, isSecret }: FillOptions): Filled {
  const [, whole] = WHOLE.exec(text) ?? [];
  if (stacks === undefined)
    return { value: text, issues: issueAt(path, whole === undefined ? undefined : NOTHING_SHARED) };
  const found = new Map(
    [...text.matchAll(REFERENCE)].map(
      ([, name = ""]) => [name, sharedValue(name, stacks, isSecret)] as const,
    ),
  );
  const issues = [...found.values()].flatMap(({ issue }) => issueAt(path, issue));
  if (found.size === 0 || issues.length > 0) return { value: text, issues };
  if (whole !== undefined) return { value: found.get(whole)?.value, issues };
  const unfit = [...found].filter(([, { value }]) => !["string", "number"].includes(typeof value));
  if (unfit.length > 0)
    return {
      value: text,
      issues: unfit.flatMap(([name]) =>
        issueAt(path, `${nameOf(name)} is not a text or a number, so it can't be a part of a text`),
      ),
    };
  return { value: text.replace(REFERENCE, (_, name: string) => String(found.get(name)?.value)), issues };
}

const NOTHING_SHARED =
  "names an output of another stack, and foresail:shared is missing; write there which stack it is: shared: {base: organization/project/stack}";

const nameOf = (name: string) => quoted(`\${shared.${name}}`);

/** Returns the value of "base.network.id", or why there is none. */
function sharedValue(
  name: string,
  stacks: SharedStacks,
  isSecret: boolean,
): { value?: unknown; issue?: string } {
  const [source = "", output, ...fields] = name.split(".");
  if (output === undefined || output === "")
    return { issue: `${nameOf(name)} names no output; write \${shared.NAME.OUTPUT}` };
  const from = Object.hasOwn(stacks, source) ? stacks[source] : undefined;
  if (from === undefined) {
    const known = Object.keys(stacks);
    const meant = nearest(source, known);
    const fix = meant === undefined ? `it has ${listed(known) || "none"}` : `did you mean ${quoted(meant)}?`;
    return { issue: `${nameOf(name)}: foresail:shared has no stack ${quoted(source)}; ${fix}` };
  }
  const { stack, outputs, secrets = [] } = from;
  // foresail:shared itself is reported
  if (outputs === undefined) return {};
  const offers = Object.keys(outputs).filter((one) => outputs[one] !== undefined && outputs[one] !== null);
  if (offers.length === 0)
    return { issue: `${nameOf(name)}: ${stack} has no outputs yet; run \`pulumi up\` for it first` };
  const value = valueAt(outputs, [output, ...fields]);
  if (value === undefined || value === null) {
    const of = Object.hasOwn(outputs, output) && fields.length > 0 ? ` with ${quoted(fields.join("."))}` : "";
    const has = listed(offers.sort());
    return { issue: `${nameOf(name)}: ${stack} has no output ${quoted(output)}${of}; it has ${has}` };
  }
  if (secrets.includes(output) && !isSecret)
    return {
      issue: `${nameOf(name)}: this output of ${stack} is secret, and previews show this field; only a secret key can take it`,
    };
  return { value };
}
