import { isDeepStrictEqual } from "node:util";
import type { ClusterSpecification } from "../cluster/specification";
import type { EncryptionKeyStep } from "../steps";

/** An encryption key as a control plane describes it; its fingerprint tells keys with the same name apart. */
interface DescribedKey {
  name: string;
  fingerprint: string;
}

/** The keys for Secrets at rest of one control plane, in order: the first one encrypts, every one decrypts. */
export interface EncryptionKeys {
  machine: string;
  /** In its configuration, which its API server reads at its next start. */
  file: DescribedKey[];
  /** What its running API server has read; empty while none runs. */
  loaded: DescribedKey[];
}

/** Returns the desired generation of the key for Secrets at rest. State before the first rotation has none. */
export const keyGeneration = (
  specification: Pick<ClusterSpecification, "encryptionKeyGeneration"> | undefined,
): number => specification?.encryptionKeyGeneration ?? 1;

/** Returns the name of a generation's key, which every Secret in etcd has before its encrypted content. */
export const keyName = (generation: number): string => `foresail-${generation}`;

/** The phases that change the keys of control planes; Secrets are rewritten between the last two. */
type KeyPhase = "add" | "promote" | "remove";

/** Returns the keys, by name, that a control plane has at the end of a phase. */
const KEYS_AFTER: Record<KeyPhase, (keys: readonly string[], target: string) => string[]> = {
  add: (keys, target) => (keys.includes(target) ? [...keys] : [...keys, target]),
  promote: (keys, target) => [target, ...keys.filter((key) => key !== target)],
  remove: (_keys, target) => [target],
};

/** A control plane that has not completed a phase, and the keys that it gets. */
export interface KeyChange {
  machine: string;
  keys: string[];
}

function changesOf(phase: KeyPhase, observed: readonly EncryptionKeys[], target: string): KeyChange[] {
  return observed.flatMap(({ machine, file, loaded }) => {
    const names = file.map(({ name }) => name);
    const keys = KEYS_AFTER[phase](names, target);
    return isDeepStrictEqual(names, keys) && isDeepStrictEqual(file, loaded) ? [] : [{ machine, keys }];
  });
}

/**
 * Returns the phase of a rotation that is next, with the control planes that have not completed it; undefined when
 * every control plane has the new key alone. A phase begins only when the one before it is complete on every control
 * plane, so that each API server can decrypt what another one writes, also after a restart.
 *
 * @param target name of the new key
 * @param rewritten whether the new key encrypts every Secret
 */
export function nextPhase(
  observed: readonly EncryptionKeys[],
  target: string,
  rewritten: boolean,
): { phase: KeyPhase; changes: KeyChange[] } | { phase: "rewrite" } | undefined {
  if (changesOf("remove", observed, target).length === 0) return undefined;
  for (const phase of ["add", "promote"] as const) {
    const changes = changesOf(phase, observed, target);
    if (changes.length > 0) return { phase, changes };
  }
  if (!rewritten) return { phase: "rewrite" };
  return { phase: "remove", changes: changesOf("remove", observed, target) };
}

/** Returns why a rotation can't begin: control planes whose keys with the same name differ can't read one another's Secrets. */
export function refuseDifferentKeys(observed: readonly EncryptionKeys[]): string | undefined {
  const first = new Map<string, { machine: string; fingerprint: string }>();
  for (const { machine, file } of observed)
    for (const { name, fingerprint } of file) {
      const other = first.get(name) ?? { machine, fingerprint };
      first.set(name, other);
      if (other.fingerprint !== fingerprint)
        return `the encryption key ${name} of ${machine} is not that of ${other.machine}, so they can't read one another's Secrets; restore the file of the one whose Secrets can be read`;
    }
  return undefined;
}

/** Returns the steps of a rotation from one generation to another; none when the generation is the same. */
export function rotationSteps(
  controlPlanes: readonly string[],
  from: number,
  to: number,
): EncryptionKeyStep[] {
  if (from >= to) return [];
  const key = keyName(to);
  const onEach = (kind: KeyPhase) =>
    controlPlanes.map((machine): EncryptionKeyStep => ({ kind, machine, key }));
  return [...onEach("add"), ...onEach("promote"), { kind: "rewrite", key }, ...onEach("remove")];
}
