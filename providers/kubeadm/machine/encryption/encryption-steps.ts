import type { EncryptionKeys } from "../../plan/encryption/encryption";
import { plainStep, step } from "../steps";

/** Reads which encryption keys a control plane has, for parseEncryptionKeys. */
export const encryptionStatusScript = plainStep("encryption-status");

/** Parses the answer of encryptionStatusScript. */
export function parseEncryptionKeys(machine: string, answer: string): EncryptionKeys {
  const lines = answer
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const of = (source: string) =>
    lines
      .filter(([from]) => from === source)
      .map(([, name = "", fingerprint = ""]) => ({ name, fingerprint }));
  return { machine, file: of("file"), loaded: of("loaded") };
}

/** Reads one encryption key of a control plane. Answers its text, which is secret; empty when it does not have it. */
export const encryptionKeyScript = (cluster: string, machine: string, key: string) =>
  step("encryption-key", cluster, machine, { KEY: key });

/**
 * Gives a control plane these encryption keys in this order, and waits until its API server has read them. Data: the
 * key that it does not have. Its answer is empty.
 *
 * @param mayCreate whether the machine makes a missing key, if the data has none
 * @param seconds until the restarted API server is ready
 */
export const encryptionKeysScript = (
  cluster: string,
  machine: string,
  { keys, mayCreate, seconds }: { keys: readonly string[]; mayCreate: boolean; seconds: number },
) => step("encryption-keys", cluster, machine, { KEYS: keys, MAY_CREATE: mayCreate, LOAD_SECONDS: seconds });

/** Counts the Secrets in etcd that another key than this one encrypts, or none. Answers their number. */
export const encryptionStaleScript = (cluster: string, machine: string, key: string) =>
  step("encryption-stale", cluster, machine, { KEY: key });
