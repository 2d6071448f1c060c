import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Who a certificate is for. */
export interface CertificateSubject {
  /** Common name: the user. */
  readonly user: string;
  /** Organizations: the user's groups. */
  readonly groups: readonly string[];
}

const TAG = { integer: 0x02, bits: 0x03, id: 0x06, text: 0x0c, sequence: 0x30, set: 0x31, attributes: 0xa0 };
/** Encoded object identifiers: commonName, organizationName, ecdsa-with-SHA256. */
const ID = {
  commonName: Buffer.from([0x55, 0x04, 0x03]),
  organization: Buffer.from([0x55, 0x04, 0x0a]),
  ecdsaWithSha256: Buffer.from([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]),
};

/** Encodes a value by the distinguished encoding rules of ASN.1. */
function encode(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length, ...bytes]), content]);
}

const nameOf = (id: Buffer, value: string) =>
  encode(TAG.set, encode(TAG.sequence, encode(TAG.id, id), encode(TAG.text, Buffer.from(value))));

const encodeSubject = ({ user, groups }: CertificateSubject) =>
  encode(TAG.sequence, ...groups.map((group) => nameOf(ID.organization, group)), nameOf(ID.commonName, user));

/**
 * Returns whether a request, which others have made, is for exactly this subject and asks for no extensions.
 *
 * @param request PEM
 */
export function isRequestFor(subject: CertificateSubject, request: string): boolean {
  const [, body] =
    /^-----BEGIN CERTIFICATE REQUEST-----\n([A-Za-z0-9+/=\n]+)\n-----END CERTIFICATE REQUEST-----\n?$/.exec(
      request,
    ) ?? [];
  if (body === undefined) return false;
  const [whole] = elements(Buffer.from(body, "base64"));
  const [information] = whole ? elements(whole.content) : [];
  const [, name, , attributes] = information ? elements(information.content) : [];
  return name?.encoded.equals(encodeSubject(subject)) === true && attributes?.content.length === 0;
}

/** Splits what follows each other in DER; empty for anything else. */
function elements(bytes: Buffer): { encoded: Buffer; content: Buffer }[] {
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const short = bytes[at + 1] ?? 0;
    const wide = short < 0x80 ? 0 : short & 0x7f;
    if (wide > 2) return [];
    const from = at + 2 + wide;
    const length =
      wide === 0 ? short : bytes.subarray(at + 2, from).reduce((sum, byte) => sum * 256 + byte, 0);
    if (from + length > bytes.length) return [];
    found.push({ encoded: bytes.subarray(at, from + length), content: bytes.subarray(from, from + length) });
    at = from + length;
  }
  return found;
}

/** Returns a PKCS#10 request for a certificate, PEM. @param privateKey an EC key */
export function certificateRequest(
  subject: CertificateSubject,
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
): string {
  const information = encode(
    TAG.sequence,
    encode(TAG.integer, Buffer.from([0])),
    encodeSubject(subject),
    publicKey.export({ type: "spki", format: "der" }),
    encode(TAG.attributes),
  );
  const request = encode(
    TAG.sequence,
    information,
    encode(TAG.sequence, encode(TAG.id, ID.ecdsaWithSha256)),
    encode(TAG.bits, Buffer.from([0]), sign("sha256", information, privateKey)),
  );
  const lines = request.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** Returns a new key with a request for its certificate; both are PEM. */
export function newKeyAndRequest(subject: CertificateSubject): { key: string; request: string } {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { key, request: certificateRequest(subject, pair) };
}
