import { parseUrn } from "../lib/pulumi/state";
import type { RecordedResource } from "./stack";

/** An object that a run created, and the objects for which it had to wait. */
export interface MadeObject {
  /** Type and name as the engine prints them: "openstack:networking:Port w-1". */
  readonly key: string;
  /** Time of its creation, with the provider's own waits. */
  readonly seconds: number;
  /** Keys of the objects that had to exist before. */
  readonly after: readonly string[];
}

/** The chain of objects that determines the minimum duration of a run. */
export interface Chain {
  readonly seconds: number;
  readonly keys: readonly string[];
}

/** Notes how long each object takes, from the lines that the engine prints without a terminal. */
export class ObjectTimes {
  private readonly began = new Map<string, number>();
  private readonly took = new Map<string, number>();
  private readonly started: number;
  private updating: number | undefined;
  private first: number | undefined;
  private last: number | undefined;

  /** @param now in milliseconds of a clock that does not jump; the run begins with the call */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.started = now();
  }

  /** Processes the next line; ignores all lines except those of creations. */
  readonly take = (line: string): void => {
    if (line.startsWith("Updating (")) this.updating ??= this.now();
    const [, type, name, state] = /^ \+ +(\S+) (\S+) (creating|created)\b/.exec(line) ?? [];
    const key = `${type} ${name}`;
    if (state === "creating" && !this.began.has(key)) {
      this.began.set(key, this.now());
      if (!isOwn(key)) this.first ??= this.now();
    }
    const began = this.began.get(key);
    if (state !== "created" || began === undefined) return;
    const now = this.now();
    this.took.set(key, (now - began) / 1000);
    if (!isOwn(key)) this.last = now;
  };

  /** Returns the created objects of the state, without stack and providers. */
  made(resources: readonly RecordedResource[]): MadeObject[] {
    return resources.flatMap(({ urn, dependencies = [] }) => {
      const key = keyOf(urn);
      const seconds = this.took.get(key);
      if (seconds === undefined || isOwn(key)) return [];
      return [{ key, seconds, after: dependencies.map(keyOf) }];
    });
  }

  /**
   * Returns where the seconds of an `up` went.
   * @param ended when it had ended, by the same clock
   * @throws Error when it created nothing
   */
  phases(ended: number): Phases {
    const { started, updating, first, last } = this;
    if (updating === undefined || first === undefined || last === undefined)
      throw new Error("the engine has printed no creation");
    const seconds = (from: number, to: number) => (to - from) / 1000;
    return {
      preview: seconds(started, updating),
      start: seconds(updating, first),
      objects: seconds(first, last),
      end: seconds(last, ended),
    };
  }
}

/** The seconds of an `up`. */
export interface Phases {
  readonly preview: number;
  /** Of the engine and the program until the first object begins. */
  readonly start: number;
  /** From the first object until the last exists. */
  readonly objects: number;
  readonly end: number;
}

/** Stacks and providers, which are the engine's own. */
const isOwn = (key: string): boolean => key.startsWith("pulumi:");

/**
 * "urn:pulumi:s::p::parent$openstack:networking/port:Port::w-1" → "openstack:networking:Port w-1": the engine prints no part of
 * a module that only repeats the type.
 */
function keyOf(urn: string): string {
  const { type, name } = parseUrn(urn);
  const shown = type.replace(/\/([^:]*):([^:]*)$/, (whole: string, part: string, own: string) =>
    part.toLowerCase() === own.toLowerCase() ? `:${own}` : whole,
  );
  return `${shown} ${name}`;
}

/** The type of an object without its package: "Port". */
export const kindOf = (key: string): string => key.slice(0, key.indexOf(" ")).split(":").at(-1) ?? "";

/**
 * Returns the chain of dependencies with the longest waits.
 * @throws Error when the objects wait for each other in a cycle
 */
export function longestChain(objects: readonly MadeObject[]): Chain {
  const byKey = new Map(objects.map((object) => [object.key, object]));
  const known = new Map<string, Chain | undefined>();
  const chainTo = ({ key, seconds, after }: MadeObject): Chain => {
    if (known.has(key)) {
      const chain = known.get(key);
      if (chain === undefined) throw new Error(`${key} waits for itself`);
      return chain;
    }
    known.set(key, undefined);
    const before = longest(after.flatMap((name) => byKey.get(name) ?? []).map(chainTo));
    const chain = { seconds: before.seconds + seconds, keys: [...before.keys, key] };
    known.set(key, chain);
    return chain;
  };
  return longest(objects.map(chainTo));
}

function longest(chains: readonly Chain[]): Chain {
  return chains.reduce((most, chain) => (chain.seconds > most.seconds ? chain : most), {
    seconds: 0,
    keys: [],
  });
}

/** A kind of dependency, and how much shorter the longest chain would be without it. */
interface Saving {
  /** Which objects wait, such as "Instance". */
  readonly kind: string;
  /** And for which. */
  readonly after: string;
  readonly seconds: number;
}

const pairOf = (kind: string, after: string): string => `${kind} ${after}`;

function pairsOf(objects: readonly MadeObject[]): { kind: string; after: string }[] {
  const made = new Set(objects.map(({ key }) => key));
  const pairs = objects.flatMap(({ key, after }) =>
    after.filter((name) => made.has(name)).map((name) => ({ kind: kindOf(key), after: kindOf(name) })),
  );
  return [...new Map(pairs.map((pair) => [pairOf(pair.kind, pair.after), pair])).values()];
}

/** Returns the cost of each kind of dependency that a run has and its floor has not; the most expensive first. */
export function avoidableWaits(objects: readonly MadeObject[], floor: readonly MadeObject[]): Saving[] {
  const needed = new Set(pairsOf(floor).map(({ kind, after }) => pairOf(kind, after)));
  const whole = longestChain(objects).seconds;
  return pairsOf(objects)
    .filter(({ kind, after }) => !needed.has(pairOf(kind, after)))
    .map(({ kind, after }) => ({ kind, after, seconds: whole - withoutPair(objects, kind, after) }))
    .sort((a, b) => b.seconds - a.seconds);
}

function withoutPair(objects: readonly MadeObject[], kind: string, after: string): number {
  return longestChain(
    objects.map((object) =>
      kindOf(object.key) === kind
        ? { ...object, after: object.after.filter((name) => kindOf(name) !== after) }
        : object,
    ),
  ).seconds;
}

/** Returns how long the objects of each kind took, in the order of the run. */
export function secondsByKind(objects: readonly MadeObject[]): Map<string, number[]> {
  const kinds = new Map<string, number[]>();
  for (const { key, seconds } of objects)
    kinds.set(kindOf(key), [...(kinds.get(kindOf(key)) ?? []), seconds]);
  return kinds;
}
