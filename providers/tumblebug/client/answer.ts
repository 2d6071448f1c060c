import { z } from "zod";
import type { Reply } from "../../../lib/http-client";
import { UnexpectedAnswer } from "./errors";
import { oneLine } from "./refusal";

/** Text, also where Go wrote null or left it out. */
export const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

/** A name or a word for people, all characters printable. */
export const word = text.transform(oneLine);

/** A list, also where Go wrote null or left it out. */
export function list<T extends z.ZodType>(item: T) {
  return z
    .array(item)
    .nullish()
    .transform((value) => value ?? []);
}

/** A whole number, as such or as text; undefined when it is none. */
export const wholeNumber = z.union([z.string(), z.number()]).nullish().transform(readWholeNumber);

/** An IP address or DNS name; undefined while there is none, which the older generation calls "empty". */
export const address = text.transform((value) =>
  ["", "empty", "<nil>"].includes(value.trim()) ? undefined : value.trim(),
);

function readWholeNumber(value: string | number | null | undefined): number | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  const number = Number(value);
  return Number.isInteger(number) && number >= 0 ? number : undefined;
}

/** Reads an answer. @throws UnexpectedAnswer that names the fields, never their values */
export function readAnswer<T>(what: string, schema: z.ZodType<T>, { body }: Pick<Reply, "body">): T {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const detail = read.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length === 0 ? "the whole" : path.join(".")}: ${message}`)
    .join("; ");
  throw new UnexpectedAnswer(what, detail);
}
