import { z } from "zod";
import { isObject } from "../../lib/json";
import { takeOverIssue } from "../../lib/ownership/owner";
import { LONGEST_LINE, lineIssue } from "../../lib/validation/names";
import { MACHINES, PORTS, SECONDS } from "../../lib/validation/numbers";
import { urlIssue } from "../../lib/validation/urls";
import { readAsNumber } from "../../lib/text/quote";
import { NEWEST_VERSION } from "../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import { exactlyOneIssue, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";

/** Adds a rule to a schema. @param issueOf returns a message with the issue and its fix, or undefined */
export const rule = <Schema extends z.ZodType>(
  schema: Schema,
  issueOf: (value: z.output<Schema>) => string | undefined,
): Schema => rules(schema, (value) => issueAt([], issueOf(value)));

/**
 * Adds a rule to a schema.
 *
 * @param issuesOf returns validation issues with paths relative to the value
 * @param options say when the rule is checked. @default if the value is otherwise valid
 */
export function rules<Schema extends z.ZodType>(
  schema: Schema,
  issuesOf: (value: z.output<Schema>) => readonly ValidationIssue[],
  options?: typeof IF_OBJECT,
): Schema {
  return schema.superRefine((value, context) => {
    for (const { path, message } of issuesOf(value))
      context.addIssue({ code: "custom", path: [...path], message });
  }, options);
}

/** Checks a rule of an object even if its fields are invalid. */
const IF_OBJECT = { when: ({ value }: { value: unknown }) => isObject(value) };

/** Schema of a string with a rule. */
export const text = (issueOf: (value: string) => string | undefined) => rule(z.string(), issueOf);

/** Schema of a URL. @param schemes accepted schemes, without the colon */
export const url = (schemes?: readonly string[]) => text((value) => urlIssue(value, schemes));

/** Schema of a boolean with its default. */
export const flag = (byDefault: boolean, description: string) =>
  z.boolean().default(byDefault).describe(description);

/** Schema of the stack from which another one takes something over. @param marked what an earlier release marked */
export const takeOver = (what: string, marked: string) =>
  text(takeOverIssue)
    .optional()
    .describe(
      `Take ${what} over from another stack, by the identity that a refusal names; \`unmarked\` for ${marked} that an earlier release marked. It may stay in the file.`,
    );

/** Schema of a map whose values another program checks, such as those of a Helm chart. */
export const anyValues = (description: string) =>
  z.record(z.string(), z.unknown()).default({}).describe(description);

/** Requires exactly one of these fields of an object. The rule is checked even if other fields are invalid. */
export function exactlyOne<Schema extends z.ZodObject>(
  schema: Schema,
  fields = Object.keys(schema.shape),
): Schema {
  return rules(schema, (value) => issueAt([], exactlyOneIssue(value, fields)), IF_OBJECT);
}

/** Adds a rule for the keys of a map. The rule is checked even if values of the map are invalid. */
export const keyRule = <Schema extends z.ZodRecord>(
  schema: Schema,
  issueOf: (key: string) => string | undefined,
): Schema =>
  rules(
    schema,
    (map) => Object.keys(map as object).flatMap((key) => issueAt([key], issueOf(key))),
    IF_OBJECT,
  );

/** Schema of a string of one line that another system gets unchanged. */
export const line = (longest = LONGEST_LINE) => rule(z.string().min(1).max(longest), lineIssue);

/** Schema of a Kubernetes version. YAML parses an unquoted version of two parts as a number. */
export const kubernetesVersion = () =>
  rule(
    z.string({
      error: ({ input }) =>
        typeof input === "number" ? `${readAsNumber(input)}; ${VERSION_FIX}` : undefined,
    }),
    kubernetesVersionIssue,
  );

const VERSION_FIX = `write all three parts in quotes, e.g. "${NEWEST_VERSION}"`;

/** Schema of any string. Accepts whole numbers, but not fractions, because YAML parses 1.30 as 1.3. */
export const anyText = () =>
  z.union([z.string(), z.int()], { error: ({ input }) => anyTextError(input) }).transform(String);

const anyTextError = (input: unknown) =>
  typeof input === "number"
    ? `${readAsNumber(input)}; put it in quotes`
    : "is not a text; write one, in quotes";

/** Maximum number of pools or groups, and of machines in one of them. Kubernetes supports up to 5000 nodes. */
export const MOST_GROUPS = 200;
export const [, MOST_MACHINES] = MACHINES;

/** Schema of a whole number. */
export const whole = (least: number, most?: number) =>
  most === undefined ? z.int().min(least) : z.int().min(least).max(most);

/** Schema of a duration in seconds, at most a day. */
export const seconds = (least = SECONDS[0]) => whole(least, SECONDS[1]);

/** Schema of a TCP port. */
export const port = () => whole(...PORTS);

/** Description of the number of machines in a pool or group. */
export const POOL_SIZE = "Number of machines; an odd number of control planes, such as 1 or 3.";

const blocks = () => z.array(z.string());

/** Schema of the IPv4 blocks that may reach the machines from outside. */
export const Access = z.strictObject({
  ssh: blocks().min(1).describe("IPv4 blocks that may open SSH to the machines, foresail's own among them."),
  api: blocks().describe(
    "IPv4 blocks that may open the Kubernetes API, foresail's own among them; an empty list opens it to the nodes alone.",
  ),
  nodePorts: blocks().default([]).describe("IPv4 blocks that may open node ports."),
  open: flag(false, "Accept 0.0.0.0/0 in these lists."),
});
