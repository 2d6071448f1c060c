import { isIP } from "node:net";
import { z } from "zod";
import type { HttpResponse } from "../../../lib/http-client";
import { hostIssue } from "../../../lib/validation/addresses";
import { oneLine, UnexpectedAnswer } from "./errors";

/** A string; "" if it is null or absent. */
export const answerText = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

/** A name or text on one line, with printable characters only. */
export const answerWord = answerText.transform(oneLine);

/** A list; empty if it is null or absent. */
export function list<T extends z.ZodType>(item: T) {
  return z
    .array(item)
    .nullish()
    .transform((value) => value ?? []);
}

/** A whole number, as a number or string; undefined for other values. */
export const wholeNumber = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => {
    const number = value === null || value === undefined || value === "" ? NaN : Number(value);
    return Number.isInteger(number) && number >= 0 ? number : undefined;
  });

/** An IP address or DNS name; undefined if there is none. The generation `mcis` writes "empty" then. */
export const address = answerText
  .transform((value) => (["", "empty", "<nil>"].includes(value.trim()) ? undefined : value.trim()))
  .refine(
    (value) => value === undefined || isIP(value) !== 0 || hostIssue(value) === undefined,
    "expected an IP address or a DNS name",
  );

/** A reader and the path of a field. */
type Field = readonly [reader: z.ZodType, path: string];
export type AnswerFields = Readonly<Record<string, Field>>;

/**
 * Returns the schema of an object from a table of its fields: `{ name: [text, "IId.NameId"] }`. Of several paths,
 * separated by "|", the first one with a value counts. A path with "?", as in "region?.zone", leads through an object
 * that may be absent; the path "" is the whole object.
 */
export function record<const Table extends AnswerFields>(
  fields: Table,
): z.ZodType<{ [Name in keyof Table]: z.output<Table[Name][0]> }> {
  return z.looseObject({}).transform((body, context) => {
    const issue = (message: string, ...path: PropertyKey[]) =>
      context.addIssue({ code: "custom", message, path });
    const read = (reader: z.ZodType, path: string): unknown => {
      const steps = path === "" ? [] : path.split(".");
      const names = steps.map((step) => step.replace("?", ""));
      let value: unknown = body;
      for (const [index, name] of names.entries()) {
        if (typeof value === "object" && value !== null) value = (value as Record<string, unknown>)[name];
        else if (value !== undefined && value !== null) issue("expected an object", ...names.slice(0, index));
        else if (steps[index - 1]?.endsWith("?") !== true) issue("is missing", ...names.slice(0, index));
        else value = undefined;
      }
      const found = reader.safeParse(value);
      for (const one of found.error?.issues ?? []) issue(one.message, ...names, ...one.path);
      return found.data;
    };
    const entries = Object.entries(fields).map(([name, [reader, paths]]) => {
      const values = paths.split("|").map((path) => read(reader, path));
      return [name, values.find((value) => value !== undefined && value !== "") ?? values[0]];
    });
    return Object.fromEntries(entries) as { [Name in keyof Table]: z.output<Table[Name][0]> };
  });
}

/** Parses a response. @throws UnexpectedAnswer with names of wrong fields, but without their values */
export function readAnswer<T>(what: string, schema: z.ZodType<T>, { body }: Pick<HttpResponse, "body">): T {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const detail = read.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length === 0 ? "the response" : path.join(".")}: ${message}`)
    .join("; ");
  throw new UnexpectedAnswer(what, detail);
}
