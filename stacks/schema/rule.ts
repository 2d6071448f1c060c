import { z } from "zod";
import { exactlyOneIssue } from "../../lib/validation/choice";
import { lineIssue } from "../../lib/validation/names";
import { readAsNumber } from "../../lib/text/quote";
import { kubernetesVersionIssue, NEWEST_MINOR } from "../../providers/kubeadm/plan/validation/version";
import type { ValidationIssue } from "../../lib/validation/validation-issue";

/** Adds a rule of lib/validation to one value: it returns undefined, or what is wrong and the fix. */
export function rule<Schema extends z.ZodType>(
  schema: Schema,
  issueOf: (value: z.output<Schema>) => string | undefined,
): Schema {
  return rules(schema, (value) => {
    const message = issueOf(value);
    return message === undefined ? [] : [{ path: [], message }];
  });
}

/** Adds a rule that finds mistakes below a value; their paths are relative to it. */
export function rules<Schema extends z.ZodType>(
  schema: Schema,
  issuesOf: (value: z.output<Schema>) => readonly ValidationIssue[],
): Schema {
  return schema.superRefine((value, context) => {
    for (const { path, message } of issuesOf(value))
      context.addIssue({ code: "custom", path: [...path], message });
  });
}

/** Exactly one of the fields must be set. It is checked although another field of the object is wrong. */
export function exactlyOne<Schema extends z.ZodObject>(schema: Schema): Schema {
  const fields = Object.keys(schema.shape);
  return schema.superRefine(
    (value, context) => {
      const message = exactlyOneIssue(value, fields);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    },
    { when: ({ value }) => isObject(value) },
  );
}

/** A rule for the keys of a map. It is checked although a value of the map is wrong. */
export function keyRule<Schema extends z.ZodRecord>(
  schema: Schema,
  issueOf: (key: string) => string | undefined,
): Schema {
  return schema.superRefine(
    (value, context) => {
      for (const key of Object.keys(value)) {
        const message = issueOf(key);
        if (message !== undefined) context.addIssue({ code: "custom", path: [key], message });
      }
    },
    { when: ({ value }) => isObject(value) },
  );
}

/** Whether a value is an object with named fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text of one line that another system takes as it is. */
export const line = (longest = 255) => rule(z.string().min(1).max(longest), lineIssue);

/** A Kubernetes version; without quotes, YAML makes a number of the first two parts. */
export const kubernetesVersion = () =>
  rule(
    z.string({
      error: ({ input }) =>
        typeof input === "number" ? `${readAsNumber(input)}; ${VERSION_FIX}` : undefined,
    }),
    kubernetesVersionIssue,
  );

const VERSION_FIX = `write all three parts in quotes, e.g. "1.${NEWEST_MINOR}.3"`;

/** Any text: a whole number is one, too, and a fraction is not, since YAML reads 1.30 as 1.3. */
export const anyText = () =>
  z.union([z.string(), z.int()], { error: ({ input }) => anyTextError(input) }).transform(String);

const anyTextError = (input: unknown) =>
  typeof input === "number"
    ? `${readAsNumber(input)}; put it in quotes`
    : "is not a text; write one, in quotes";

/** Most pools or groups, and most machines in one of them: Kubernetes itself ends at 5000 nodes. */
export const MOST_GROUPS = 200;
export const MOST_MACHINES = 1000;

/** A TCP port. */
export const port = () => z.int().min(1).max(65_535);
