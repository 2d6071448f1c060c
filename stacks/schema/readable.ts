import { z } from "zod";
import { isObject } from "./rule";

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
