/**
 * Plain values in the binary form of protobuf's `Struct` (google/protobuf/struct.proto), without an object for each value in
 * between. It is the form in which the engine and its Node.js processes pass the properties of resources.
 */

/** A tag is the number of a field and its type: 0 is a varint, 1 are 8 bytes, 2 is a length and as many bytes, 5 are 4 bytes. */
const tag = (field: number, type: number) => (field << 3) | type;

/** `map<string, Value> fields` of a Struct, and `repeated Value values` of a ListValue. */
const ITEM = tag(1, 2);
const [ENTRY_KEY, ENTRY_VALUE] = [tag(1, 2), tag(2, 2)];
const [NULL, NUMBER, STRING, BOOL] = [tag(1, 0), tag(2, 1), tag(3, 2), tag(4, 0)];
const [STRUCT, LIST] = [tag(5, 2), tag(6, 2)];

const FIRST_BYTES = 4096;

/**
 * Returns the Struct of a plain object.
 *
 * @throws Error for a value that no Struct can have, such as undefined or a function
 */
export function encodeStruct(fields: object): Buffer {
  const writer = new BackwardWriter();
  writeStruct(writer, fields as Readonly<Record<string, unknown>>);
  return writer.written();
}

/**
 * Returns the plain object of a Struct, with its names sorted: the engine writes them in random order, and hashes and texts
 * of what is read have to stay the same.
 *
 * @throws Error when the bytes are not a Struct, or a value has no kind
 */
export function decodeStruct(bytes: Uint8Array): Record<string, unknown> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new Reader(buffer).struct(buffer.length);
}

/** Writes a message from its end, so that the length of a part is known before it is written. */
class BackwardWriter {
  private buffer = Buffer.allocUnsafe(FIRST_BYTES);
  private start = FIRST_BYTES;

  /** How many bytes are written so far. */
  get length(): number {
    return this.buffer.length - this.start;
  }

  written(): Buffer {
    return this.buffer.subarray(this.start);
  }

  byte(value: number): void {
    this.reserve(1);
    this.buffer[this.start] = value;
  }

  varint(value: number): void {
    const bytes: number[] = [];
    let left = value;
    for (; left > 0x7f; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
    for (this.byte(left); bytes.length > 0;) this.byte(bytes.pop() ?? 0);
  }

  double(value: number): void {
    this.reserve(8);
    this.buffer.writeDoubleLE(value, this.start);
  }

  string(value: string): void {
    const length = Buffer.byteLength(value);
    this.reserve(length);
    this.buffer.write(value, this.start, length);
    this.varint(length);
  }

  /** Completes a part that began when this many bytes were written. */
  part(tagOfPart: number, before: number): void {
    this.varint(this.length - before);
    this.byte(tagOfPart);
  }

  private reserve(bytes: number): void {
    if (this.start < bytes) {
      const larger = Buffer.allocUnsafe(2 * this.buffer.length + bytes);
      const start = larger.length - this.length;
      this.buffer.copy(larger, start, this.start);
      [this.buffer, this.start] = [larger, start];
    }
    this.start -= bytes;
  }
}

function writeStruct(writer: BackwardWriter, fields: Readonly<Record<string, unknown>>): void {
  const names: string[] = [];
  for (const name in fields) names.push(name);
  for (const name of names.reverse()) {
    const before = writer.length;
    writeValue(writer, fields[name]);
    writer.part(ENTRY_VALUE, before);
    writer.string(name);
    writer.byte(ENTRY_KEY);
    writer.part(ITEM, before);
  }
}

function writeList(writer: BackwardWriter, values: readonly unknown[]): void {
  for (let index = values.length - 1; index >= 0; index--) {
    const before = writer.length;
    writeValue(writer, values[index]);
    writer.part(ITEM, before);
  }
}

function writeValue(writer: BackwardWriter, value: unknown): void {
  const before = writer.length;
  if (typeof value === "string") {
    writer.string(value);
    writer.byte(STRING);
  } else if (typeof value === "number") {
    writer.double(value);
    writer.byte(NUMBER);
  } else if (typeof value === "boolean") {
    writer.byte(value ? 1 : 0);
    writer.byte(BOOL);
  } else if (value === null) {
    writer.byte(0);
    writer.byte(NULL);
  } else if (Array.isArray(value)) {
    writeList(writer, value);
    writer.part(LIST, before);
  } else if (typeof value === "object") {
    writeStruct(writer, value as Readonly<Record<string, unknown>>);
    writer.part(STRUCT, before);
  } else throw new Error("Unexpected struct type.");
}

class Reader {
  private at = 0;

  constructor(private readonly buffer: Buffer) {}

  struct(end: number): Record<string, unknown> {
    const found = new Map<string, unknown>();
    while (this.at < end) {
      const tagOfField = this.varint();
      if (tagOfField !== ITEM) this.skip(tagOfField);
      else this.entry(found, this.end(end));
    }
    const fields: Record<string, unknown> = {};
    for (const name of [...found.keys()].sort()) fields[name] = found.get(name);
    return fields;
  }

  private entry(fields: Map<string, unknown>, end: number): void {
    let name = "";
    let value: unknown;
    while (this.at < end) {
      const found = this.varint();
      if (found === ENTRY_KEY) name = this.string(end);
      else if (found === ENTRY_VALUE) value = this.value(this.end(end));
      else this.skip(found);
    }
    if (value === undefined) throw new Error("Unexpected struct type");
    fields.set(name, value);
  }

  private list(end: number): unknown[] {
    const values: unknown[] = [];
    while (this.at < end) {
      const found = this.varint();
      if (found === ITEM) values.push(this.value(this.end(end)));
      else this.skip(found);
    }
    return values;
  }

  /** The last of several kinds counts, as in every reader of protobuf. */
  private value(end: number): unknown {
    let value: unknown;
    while (this.at < end) {
      const found = this.varint();
      if (found === STRING) value = this.string(end);
      else if (found === NUMBER) value = this.double(end);
      else if (found === BOOL) value = this.varint() !== 0;
      else if (found === STRUCT) value = this.struct(this.end(end));
      else if (found === LIST) value = this.list(this.end(end));
      else {
        // the number of null is without a meaning
        this.skip(found);
        if (found === NULL) value = null;
      }
    }
    if (value === undefined) throw new Error("Unexpected struct type");
    return value;
  }

  private string(limit: number): string {
    const end = this.end(limit);
    const text = this.buffer.toString("utf8", this.at, end);
    this.at = end;
    return text;
  }

  private double(limit: number): number {
    if (this.at + 8 > limit) throw new Error("a number ends early");
    this.at += 8;
    return this.buffer.readDoubleLE(this.at - 8);
  }

  /** Reads a length, and returns where the part with this length ends. */
  private end(limit: number): number {
    const end = this.varint() + this.at;
    if (end > limit) throw new Error("a part is longer than what contains it");
    return end;
  }

  private varint(): number {
    let value = 0;
    for (let factor = 1; this.at < this.buffer.length; factor *= 0x80) {
      const byte = this.buffer[this.at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new Error("a number ends early");
  }

  /** Skips a field of a later release of the format. */
  private skip(unknown: number): void {
    const type = unknown & 7;
    if (type === 0) this.varint();
    else if (type === 1) this.at += 8;
    else if (type === 2) this.at = this.end(this.buffer.length);
    else if (type === 5) this.at += 4;
    else throw new Error(`a field has the type ${type}, which no Struct has`);
  }
}
