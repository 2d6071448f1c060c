import { withoutIds } from "../../../lib/text/identifiers";
import type { Condition } from "../../kubernetes/plan/status";
import type { PoolContext } from "./evaluation";
import { conditionsOf, inBrackets, type ObservedPool } from "./observed";

/** An object with conditions, and its name for messages. */
interface Reporting {
  name: string;
  conditions: readonly Condition[];
}

/** Conditions of Cluster API's v1beta2 that are False while all is well. */
const GOOD_WHEN_FALSE: readonly string[] = [
  "Deleting",
  "Paused",
  "Remediating",
  "RollingOut",
  "ScalingDown",
  "ScalingUp",
  "Updating",
];

/** Returns what an object reports, of the conditions that are False for a reason. */
export function falseConditions({ name, conditions }: Reporting): string[] {
  return conditions
    .filter(({ type }) => !GOOD_WHEN_FALSE.includes(type))
    .filter((condition) => condition.status === "False" && inBrackets(condition) !== "")
    .map((condition) => `${name}: ${condition.type} is False${inBrackets(condition)}`);
}

/** Returns the objects whose conditions tell how a pool fares, those that know most first. */
export function reporting(
  pool: ObservedPool,
  { bootstrap, infrastructure }: Partial<PoolContext>,
): Reporting[] {
  const beside = [infrastructure, bootstrap].flatMap((found) =>
    found?.object ? [{ name: found.name, conditions: conditionsOf(found.object) }] : [],
  );
  return [...beside, { name: `MachinePool ${pool.name}`, conditions: pool.conditions }];
}

/** Returns the conditions of severity Error, in words: providers use it for what a person has to fix. */
export function errorConditions(pool: ObservedPool, around: Partial<PoolContext>): string[] {
  return reporting(pool, around).flatMap(({ name, conditions }) =>
    falseConditions({ name, conditions: conditions.filter(({ severity }) => severity === "Error") }),
  );
}

/** Returns the troubles whose reason a message does not have yet. */
export function troublesBeside(message: string, troubles: readonly string[]): string[] {
  return troubles.filter((trouble) => !message.includes(trouble.slice(trouble.indexOf(" (") + 1)));
}

/** Tells an error that lasts from one that the provider's next try fixes, or that is of before a change. */
export class LastingErrors {
  private since = new Map<string, number>();

  /**
   * @param words the errors of now; those that differ only in an id are the same
   * @param now and seconds: how long an error has to last, in seconds
   * @returns the first error that has lasted, and the seconds until another one may have
   */
  seen(words: readonly string[], now: number, seconds: number): { lasting?: string; again?: number } {
    const keys = words.map(withoutIds);
    this.since = new Map(keys.map((key) => [key, this.since.get(key) ?? now]));
    const left = keys.map((key) => seconds - (now - (this.since.get(key) ?? now)));
    const lasting = words[left.findIndex((each) => each <= 0)];
    if (lasting !== undefined) return { lasting };
    return left.length === 0 ? {} : { again: Math.min(...left) };
  }
}
