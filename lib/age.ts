import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { messageOf } from "./error-message";

// the package is a module of ECMAScript, and most runs need none of it
const age = () => import("age-encryption");

/**
 * Encrypts a stream for each of these public keys (age-encryption.org).
 *
 * @throws Error when one of them is not a key
 */
export async function encryptFor(recipients: readonly string[], plain: Readable): Promise<Readable> {
  const { Encrypter } = await age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return fromWeb(await encrypter.encrypt(toWeb(plain)));
}

/** Returns what is wrong with a public key, or undefined. */
export async function recipientFault(recipient: string): Promise<string | undefined> {
  const { Encrypter } = await age();
  try {
    new Encrypter().addRecipient(recipient);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Decrypts a stream with the private keys of an identity file.
 *
 * @throws Error when the file has no key, or none that fits
 */
export async function decryptWith(identities: string, encrypted: Readable): Promise<Readable> {
  const keys = identities
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("AGE-SECRET-KEY-"));
  if (keys.length === 0) throw new Error("the identity file has no line that begins with AGE-SECRET-KEY-");
  const { Decrypter } = await age();
  const decrypter = new Decrypter();
  for (const key of keys) decrypter.addIdentity(key);
  return fromWeb(await decrypter.decrypt(toWeb(encrypted)));
}

// the two declarations of web streams, of Node and of the DOM, differ in what is not used here
const toWeb = (stream: Readable) =>
  Readable.toWeb(stream) as unknown as globalThis.ReadableStream<Uint8Array>;
const fromWeb = (stream: object) => Readable.fromWeb(stream as ReadableStream<Uint8Array>);
