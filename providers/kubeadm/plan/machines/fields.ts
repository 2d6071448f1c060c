import { isDeepStrictEqual } from "node:util";

/** A field that shapes a machine: another value means another machine. */
export interface MachineField<Value> {
  /** Name in messages. */
  label: string;
  /** Whether a server without this field in its metadata is not a machine of foresail. */
  isRequired?: boolean;
  /**
   * Value of machines that were created before the field existed. Neither a machine's name nor its metadata contain it,
   * so adding a field with its default renames and replaces no machine.
   */
  default?: Value;
  /** Returns the value in messages. @default the value as a string */
  text?: (value: Value | undefined) => string;
  /** How a server's metadata contains the value; absent in systems that write none. */
  metadata?: { key: string; write?: (value: Value) => string; read?: (text: string) => Value };
  /** Value in the hash of a name. Only for fields that every name contains, whatever their value, from the beginning. */
  original?: (value: Value | undefined) => unknown;
}

/** The table of all fields that shape the machines of a system, in the order of messages, metadata and hashes. */
export type MachineFields<Shape> = {
  readonly [Key in keyof Shape]-?: MachineField<NonNullable<Shape[Key]>>;
};

interface Entry {
  key: string;
  field: MachineField<unknown>;
  /** The value in the given shape, or the field's default. */
  value: unknown;
  isDefault: boolean;
}

/** Returns the fields of a shape. Each is used only with values of its own key, so their types are not needed. */
function entriesOf<Shape extends object>(fields: MachineFields<Shape>, shape: Partial<Shape>): Entry[] {
  return (Object.entries(fields) as [string, MachineField<unknown>][]).map(([key, field]) => {
    const value = (shape as Record<string, unknown>)[key] ?? field.default;
    return { key, field, value, isDefault: isDeepStrictEqual(value, field.default) };
  });
}

const written = ({ field, value }: Entry): string => field.metadata?.write?.(value) ?? String(value);

/** Returns the values for the hash of a name: those in every name, and later ones that differ from their defaults. */
export function hashedValues<Shape extends object>(
  fields: MachineFields<Shape>,
  shape: Shape,
): { original: unknown[]; later: unknown[] } {
  const entries = entriesOf(fields, shape);
  const later = entries.filter(({ field, isDefault }) => !field.original && !isDefault);
  return {
    original: entries.flatMap(({ field, value }) => (field.original ? [field.original(value)] : [])),
    later: later.map((entry) => [entry.key, written(entry)]),
  };
}

/** Returns the metadata for the values of a shape that differ from their defaults. */
export function shapeMetadata<Shape extends object>(
  fields: MachineFields<Shape>,
  shape: Shape,
): Record<string, string> {
  const changed = entriesOf(fields, shape).filter(({ isDefault }) => !isDefault);
  return Object.fromEntries(
    changed.flatMap((entry) => (entry.field.metadata ? [[entry.field.metadata.key, written(entry)]] : [])),
  );
}

/** Reads a shape from metadata. Returns undefined if a required field is missing. */
export function readShape<Shape extends object>(
  fields: MachineFields<Shape>,
  metadata: Readonly<Record<string, unknown>>,
): Shape | undefined {
  const shape: Record<string, unknown> = {};
  for (const { key, field } of entriesOf(fields, {})) {
    const text = metadata[field.metadata?.key ?? ""];
    if (typeof text === "string" && text !== "") shape[key] = field.metadata?.read?.(text) ?? text;
    else if (field.default !== undefined) shape[key] = field.default;
    else if (field.isRequired) return undefined;
  }
  return shape as Shape;
}

/** Returns the fields whose values differ, with both values as text. */
export function shapeDifferences<Shape extends object>(
  fields: MachineFields<Shape>,
  before: Shape,
  after: Shape,
): { label: string; before: string; after: string }[] {
  const texts = (shape: Shape) =>
    entriesOf(fields, shape).map(({ field, value }) => (field.text ? field.text(value) : String(value)));
  const [old, now] = [texts(before), texts(after)];
  return entriesOf(fields, after)
    .map(({ field: { label } }, index) => ({ label, before: old[index] ?? "", after: now[index] ?? "" }))
    .filter((field) => field.before !== field.after);
}

/** Returns a machine with the fields of an existing one, which are fixed until it is replaced. */
export function withShapeOf<Shape extends object, Machine extends Shape>(
  fields: MachineFields<Shape>,
  machine: Machine,
  existing: Shape,
): Machine {
  const isShape = ([key]: [string, unknown]) => key in fields;
  const others = Object.entries(machine).filter((entry) => !isShape(entry));
  return Object.fromEntries([...others, ...Object.entries(existing).filter(isShape)]) as Machine;
}
