import { stableHash } from "../short-hash";
import type { Handlers } from "./handler-types";

/** Length of the hashes that stand for inputs. */
const HASH_LENGTH = 32;

const REASON =
  'this resource can\'t be replaced (by --replace, --target-replace or "pulumi state taint"): the deletion of the old one would ' +
  "undo on machines and servers what the new one has just taken over; run the command without it, and run " +
  '"pulumi state untaint" for a tainted resource. To make a machine anew, take it out of the configuration, run ' +
  '"pulumi up", and add it again';

/**
 * Makes the check refuse a replacement that only the command line or a taint asks for. The engine checks a resource that it
 * replaces a second time, then without its old inputs. A replacement that `diff` itself decides is another object, and goes
 * on.
 */
export function refusingReplacement(handlers: Handlers): Handlers {
  const { check, diff } = handlers;
  if (!check || !diff) return handlers;
  /** The checked inputs of resources in the state, by their inputs; both as hashes. */
  const checked = new Map<string, string>();
  /** Checked inputs for which the diff decided a replacement. */
  const replaced = new Set<string>();
  const hash = (inputs: unknown) => stableHash(inputs, HASH_LENGTH);
  return {
    ...handlers,
    check: async (olds: object | undefined, news: unknown) => {
      const given = hash(news);
      if (Object.keys(olds ?? {}).length > 0) {
        const result = await check(olds, news);
        checked.set(given, hash(result.inputs));
        return result;
      }
      const earlier = checked.get(given);
      if (earlier === undefined || replaced.has(earlier)) return check(olds, news);
      return { inputs: news, failures: [{ property: "replacement", reason: REASON }] };
    },
    diff: async (id: string, olds: unknown, news: unknown) => {
      const result = await diff(id, olds, news);
      if ((result.replaces ?? []).length > 0) replaced.add(hash(news));
      return result;
    },
  };
}
