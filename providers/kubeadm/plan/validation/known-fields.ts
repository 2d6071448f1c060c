import { ownValue } from "../../../../lib/json";
import { parseVersion } from "../rollout/versions";
import { KUBERNETES_FIELDS } from "./kubernetes-fields";

/**
 * Shape of a field: `argument` is one {name, value}, a list has one item, the field "*" is that of every name, and `any`
 * is not checked.
 */
export type Shape =
  | "text"
  | "boolean"
  | "integer"
  | "number"
  | "argument"
  | "any"
  | readonly [Shape]
  | { readonly [field: string]: Shape };

/** The configuration objects and programs of Kubernetes that a user's settings reach. */
export interface KubernetesFields {
  /** Fields by kind. */
  readonly kinds: Readonly<Record<string, { readonly [field: string]: Shape }>>;
  /** Names of arguments by program. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** Names of the arguments of all programs whose values are of a kind. */
  readonly flagValues: Readonly<Record<"boolean" | "duration" | "integer", readonly string[]>>;
  /** State of each feature gate: a letter, as the generated file describes it; without a version, one for each minor. */
  readonly gates: Readonly<Record<string, string>>;
  /** Names of kubeadm's own feature gates. */
  readonly kubeadmGates: readonly string[];
  /** Names of the API server's admission plugins. */
  readonly plugins: readonly string[];
  /** Names of the cipher suites that every program accepts. */
  readonly cipherSuites: readonly string[];
}

type Generated = KubernetesFields & { readonly minors: readonly number[] };

/** Minor versions that have a field; undefined for all. */
type Range = readonly [first: number, last: number] | undefined;

/** Splits the name of a generated entry: "crashLoopBackOff 32-36". */
function entryOf(name: string): { name: string; range: Range } {
  const [, own = name, first, last] = /^(\S+) (\d+)-(\d+)$/.exec(name) ?? [];
  return { name: own, range: first === undefined ? undefined : [Number(first), Number(last)] };
}

let generated: Generated | undefined;
// parsed when a cluster is checked for the first time
const all = () => (generated ??= JSON.parse(KUBERNETES_FIELDS) as Generated);

/** Letter of a minor that does not have a feature gate. */
const ABSENT = "-";

/** Returns the minors that have a feature gate, "1.31 to 1.34"; undefined if none has. */
export function minorsWithGate(name: string): string | undefined {
  const { gates, minors } = all();
  const letters = [...(ownValue(gates, name) ?? "")];
  const having = minors.filter((_, index) => (letters[index] ?? ABSENT) !== ABSENT);
  const [first, last] = [having[0], having.at(-1)];
  if (first === undefined) return undefined;
  return first === last ? `1.${first}` : `1.${first} to 1.${last}`;
}

const minorNumber = (version?: string) => (version === undefined ? undefined : parseVersion(version)?.minor);

/** Newest minor whose fields are known. */
export const newestMinor = (): number => Math.max(...all().minors);

/** Tells whether a version's minor is newer than all whose fields are known. */
export const isNewer = (version?: string): boolean => (minorNumber(version) ?? 0) > newestMinor();

const cached = new Map<number | undefined, KubernetesFields>();

/**
 * Returns the fields and flags of a version of Kubernetes: of the newest known minor for a newer one, and of all minors
 * without a version or with an unreadable one.
 */
export function fieldsOf(version?: string): KubernetesFields {
  const minor = isNewer(version) ? newestMinor() : minorNumber(version);
  const found = cached.get(minor);
  if (found) return found;
  const has = (range: Range) =>
    minor === undefined || range === undefined || (range[0] <= minor && minor <= range[1]);
  const prune = (shape: Shape): Shape => {
    if (typeof shape === "string") return shape;
    if (isList(shape)) return [prune(shape[0])];
    return Object.fromEntries(
      Object.entries(shape).flatMap(([key, inner]) => {
        const { name, range } = entryOf(key);
        return has(range) ? [[name, prune(inner)]] : [];
      }),
    );
  };
  const { kinds, flags, flagValues, gates, kubeadmGates, plugins, cipherSuites, minors } = all();
  const namesOf = (list: readonly string[]) =>
    list.map(entryOf).flatMap(({ name, range }) => (has(range) ? [name] : []));
  const column = minor === undefined ? -1 : minors.indexOf(minor);
  const fields = {
    kinds: prune(kinds) as KubernetesFields["kinds"],
    flags: Object.fromEntries(
      Object.entries(flags).map(([program, list]) => [program, namesOf(list)] as const),
    ),
    flagValues: {
      boolean: namesOf(flagValues.boolean),
      duration: namesOf(flagValues.duration),
      integer: namesOf(flagValues.integer),
    },
    gates: Object.fromEntries(
      Object.entries(gates).flatMap(([name, letters]) => {
        const state = column < 0 ? letters : letters.charAt(column);
        return state === ABSENT ? [] : [[name, state] as const];
      }),
    ),
    kubeadmGates: namesOf(kubeadmGates),
    plugins: namesOf(plugins),
    cipherSuites,
  };
  cached.set(minor, fields);
  return fields;
}

export const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);
