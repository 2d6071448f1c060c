import { z } from "zod";
import type { Reply } from "../../../lib/http-client";
import { UnexpectedAnswer } from "./errors";
import { oneLine } from "./refusal";

/** A string; "" if it is null or absent. */
export const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

/** A name or text on one line, with printable characters only. */
export const word = text.transform(oneLine);

/** A list; empty if it is null or absent. */
export function list<T extends z.ZodType>(item: T) {
  return z
    .array(item)
    .nullish()
    .transform((value) => value ?? []);
}

/** A whole number, as a number or string; undefined for other values. */
export const wholeNumber = z.union([z.string(), z.number()]).nullish().transform(readWholeNumber);

/** An IP address or DNS name; undefined if there is none. The generation `mcis` writes "empty" then. */
export const address = text.transform((value) =>
  ["", "empty", "<nil>"].includes(value.trim()) ? undefined : value.trim(),
);

function readWholeNumber(value: string | number | null | undefined): number | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  const number = Number(value);
  return Number.isInteger(number) && number >= 0 ? number : undefined;
}

/** Parses a response. @throws UnexpectedAnswer with names of wrong fields, but without their values */
export function readAnswer<T>(what: string, schema: z.ZodType<T>, { body }: Pick<Reply, "body">): T {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const detail = read.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length === 0 ? "the whole" : path.join(".")}: ${message}`)
    .join("; ");
  throw new UnexpectedAnswer(what, detail);
}
