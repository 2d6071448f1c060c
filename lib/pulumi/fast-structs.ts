import { createRequire } from "node:module";
import { decodeStruct, encodeStruct } from "./struct-codec";

/** What foresail replaces of protobuf's `Struct`, and what it calls (google-protobuf 3.21). */
interface Struct {
  getFieldsMap: (this: Struct, isOptional?: boolean) => object | undefined;
  toJavaScript: (this: Struct) => Record<string, unknown>;
  /** The message as it is on the wire; absent once its fields are objects. */
  [BYTES]?: Uint8Array;
}

interface StructType {
  new (): Struct;
  readonly prototype: Struct;
  fromJavaScript: (fields: object) => Struct;
  deserializeBinaryFromReader: (message: Struct, reader: BinaryReader) => Struct;
  serializeBinaryToWriter: (message: Struct, writer: BinaryWriter) => void;
}

interface BinaryReader {
  nextField(): boolean;
  skipField(): void;
  getCursor(): number;
  getBuffer(): Uint8Array;
}

interface BinaryWriter {
  writeSerializedMessage(bytes: Uint8Array, start: number, end: number): void;
}

interface Protobuf {
  BinaryReader: { new (bytes: Uint8Array): BinaryReader; readonly prototype: BinaryReader };
  BinaryWriter: { readonly prototype: BinaryWriter };
}

const BYTES = Symbol("bytes");

let isFast = false;

/**
 * Lets this process read and write the properties of resources at once, instead of through an object for each value: with
 * hundreds of machines, that is most of what a provider does in a preview (docs/adr/0049-fast-structs.md). What Pulumi
 * gets and sends stays the same. The objects are made when they are asked for.
 */
export function makeStructsFast(): void {
  if (isFast) return;
  isFast = true;
  const ofPulumi = createRequire(require.resolve("@pulumi/pulumi"));
  const { BinaryReader, BinaryWriter } = ofPulumi("google-protobuf") as Protobuf;
  const { Struct } = ofPulumi("google-protobuf/google/protobuf/struct_pb.js") as { Struct: StructType };
  const { deserializeBinaryFromReader, serializeBinaryToWriter, prototype } = Struct;
  const { getFieldsMap, toJavaScript } = prototype;
  const used = [
    ...["fromJavaScript", "deserializeBinaryFromReader", "serializeBinaryToWriter"].map((name) => [
      Struct,
      name,
    ]),
    ...["getFieldsMap", "toJavaScript"].map((name) => [prototype, name]),
    ...["nextField", "skipField", "getCursor", "getBuffer"].map((name) => [BinaryReader.prototype, name]),
    [BinaryWriter.prototype, "writeSerializedMessage"],
  ] as [object, string][];
  // a later release may have others
  if (!used.every(([owner, name]) => typeof Reflect.get(owner, name) === "function")) return;

  Struct.fromJavaScript = (fields) => Object.assign(new Struct(), { [BYTES]: encodeStruct(fields) });
  Struct.deserializeBinaryFromReader = (message, reader) => {
    const start = reader.getCursor();
    while (reader.nextField()) reader.skipField();
    message[BYTES] = reader.getBuffer().subarray(start, reader.getCursor());
    return message;
  };
  Struct.serializeBinaryToWriter = (message, writer) => {
    const bytes = message[BYTES];
    if (bytes === undefined) serializeBinaryToWriter(message, writer);
    else writer.writeSerializedMessage(bytes, 0, bytes.length);
  };
  prototype.toJavaScript = function () {
    return this[BYTES] === undefined ? toJavaScript.call(this) : decodeStruct(this[BYTES]);
  };
  prototype.getFieldsMap = function (isOptional) {
    const bytes = this[BYTES];
    if (bytes !== undefined) {
      this[BYTES] = undefined;
      deserializeBinaryFromReader(this, new BinaryReader(bytes));
    }
    return getFieldsMap.call(this, isOptional);
  };
}
