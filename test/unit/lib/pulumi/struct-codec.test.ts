import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import fc from "fast-check";
import { decodeStruct, encodeStruct } from "../../../../lib/pulumi/struct-codec";

const FAST_STRUCTS = require.resolve("../../../../lib/pulumi/fast-structs");
const PROVIDER_MESSAGES = require.resolve("@pulumi/pulumi/proto/provider_pb");
const STRUCTS = createRequire(require.resolve("@pulumi/pulumi")).resolve(
  "google-protobuf/google/protobuf/struct_pb.js",
);

interface Struct {
  toJavaScript(): unknown;
  serializeBinary(): Uint8Array;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports
const { Struct } = require(STRUCTS) as {
  Struct: { fromJavaScript(fields: object): Struct; deserializeBinary(bytes: Uint8Array): Struct };
};

/** Fields of any names but `__proto__`, which no decoder keeps. */
const FIELDS = fc
  .dictionary(
    fc.string({ unit: "grapheme" }),
    fc.jsonValue({ stringUnit: "grapheme", maxDepth: 5, noUnicodeString: false } as object),
    { maxKeys: 8 },
  )
  .filter((fields) => !JSON.stringify(fields).includes('"__proto__":'));

/** An object as any decoder makes it: of the usual prototype. */
const plain = (fields: object): unknown => JSON.parse(JSON.stringify(fields));

describe("the codec of properties", () => {
  it("writes what protobuf's own Struct reads", () => {
    fc.assert(
      fc.property(FIELDS, (fields) => {
        const read = Struct.deserializeBinary(new Uint8Array(encodeStruct(fields))).toJavaScript();
        assert.deepEqual(plain(read as object), plain(fields));
      }),
    );
  });

  it("reads what protobuf's own Struct writes", () => {
    fc.assert(
      fc.property(FIELDS, (fields) => {
        assert.deepEqual(plain(decodeStruct(Struct.fromJavaScript(fields).serializeBinary())), plain(fields));
      }),
    );
  });

  it("sorts names as protobuf's own Struct does, in whichever order they come", () => {
    fc.assert(
      fc.property(FIELDS, (fields) => {
        const bytes = encodeStruct({ z: fields, "10": 1, a: { c: 1, b: [{ y: 2, x: fields }] } });
        const own = Struct.deserializeBinary(new Uint8Array(bytes)).toJavaScript();
        assert.equal(JSON.stringify(decodeStruct(bytes)), JSON.stringify(own));
      }),
    );
  });

  it("keeps long lists, long texts and numbers of every kind", () => {
    const fields = {
      list: Array.from({ length: 20_000 }, (_, index) => ({ name: `w-${index}`, labels: {}, taints: [] })),
      text: "ä€😀".repeat(100_000),
      numbers: [0, -0, 1.5, -1e300, Number.MAX_SAFE_INTEGER, Infinity, NaN],
      empty: ["", null, false, true, [], {}],
    };
    assert.deepEqual(decodeStruct(encodeStruct(fields)), fields);
  });

  for (const value of [undefined, () => undefined, Symbol("a"), 1n])
    it(`refuses a ${typeof value}, as protobuf does`, () => {
      assert.throws(() => encodeStruct({ list: [value] }), /^Error: Unexpected struct type\.$/);
      assert.throws(() => Struct.fromJavaScript({ list: [value] }), /^Error: Unexpected struct type\.$/);
    });

  it("skips fields that a later release may have", () => {
    // a varint, 8 bytes, 4 bytes and a text with unknown numbers, then the field a: true
    const later = [0x50, 0x01, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x55, 1, 2, 3, 4, 0x52, 0x02, 0x61, 0x62];
    const field = encodeStruct({ a: true });
    assert.deepEqual(decodeStruct(Buffer.concat([Buffer.from(later), field])), { a: true });
  });

  for (const [what, bytes] of [
    ["a text that is longer than its message", [0x0a, 0x05, 0x0a, 0x7f, 0x61]],
    ["a number that ends early", [0x0a, 0x80]],
    ["a value without a kind", [0x0a, 0x05, 0x0a, 0x01, 0x61, 0x12, 0x00]],
    ["a group", [0x0b]],
  ] as const)
    it(`refuses ${what}`, () => assert.throws(() => decodeStruct(Uint8Array.from(bytes)), Error));
});

/** What a provider and a program do with messages, with and without the fast ones. */
const PROGRAM = `
  const { Struct } = require(${JSON.stringify(STRUCTS)});
  const { CheckRequest } = require(${JSON.stringify(PROVIDER_MESSAGES)});
  const fields = { machines: [{ name: "ä", port: 22, labels: {} }], known: true, none: null, text: "x".repeat(500) };
  const message = () => {
    const request = new CheckRequest();
    request.setUrn("urn");
    request.setOlds(Struct.fromJavaScript({}));
    request.setNews(Struct.fromJavaScript(fields));
    return request;
  };
  const before = message().serializeBinary();
  require(${JSON.stringify(FAST_STRUCTS)}).makeStructsFast();
  require(${JSON.stringify(FAST_STRUCTS)}).makeStructsFast();
  const said = (bytes) => {
    const request = CheckRequest.deserializeBinary(bytes);
    return [request.getUrn(), request.getOlds().toJavaScript(), request.getNews().toJavaScript()];
  };
  const passedOn = CheckRequest.deserializeBinary(before);
  const asObjects = CheckRequest.deserializeBinary(before);
  const size = asObjects.getNews().getFieldsMap().getLength();
  const own = Struct.fromJavaScript(fields);
  own.getFieldsMap().del("none");
  console.log(JSON.stringify({
    expected: ["urn", {}, fields], size, own: own.toJavaScript(),
    said: [before, message().serializeBinary(), passedOn.serializeBinary(), asObjects.serializeBinary()].map(said),
  }));
`;

describe("fast structs", () => {
  it("read and write the same messages, and become objects for who asks for them", () => {
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", PROGRAM], {
      encoding: "utf8",
      timeout: 18_000,
      killSignal: "SIGKILL",
    });
    assert.equal(stderr, "");
    const { expected, size, own, said } = JSON.parse(stdout) as Record<string, unknown> & { said: unknown[] };
    for (const each of said) assert.deepEqual(each, expected);
    const { none: _, ...others } = (expected as [string, object, Record<string, unknown>])[2];
    assert.deepEqual([size, own], [4, others]);
  });

  it("are left out with a release of protobuf that has other functions", () => {
    const text = `
      const { Struct } = require(${JSON.stringify(STRUCTS)});
      delete Struct.prototype.getFieldsMap;
      const { fromJavaScript } = Struct;
      require(${JSON.stringify(FAST_STRUCTS)}).makeStructsFast();
      console.log(Struct.fromJavaScript === fromJavaScript);`;
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", text], {
      encoding: "utf8",
      timeout: 18_000,
    });
    assert.deepEqual([stdout, stderr], ["true\n", ""]);
  });
});
