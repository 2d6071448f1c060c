import { stableHash } from "../short-hash";
import { report } from "./log";
import type { Handlers } from "./handler-types";

/** Length of the hashes that stand for inputs. */
const HASH_LENGTH = 32;

/**
 * Makes the deletion of a replaced resource leave alone what its successor has: `--replace`, `--target-replace` and
 * `pulumi state taint` make a resource again with the same id, and then delete the old one, also in the next run when this
 * one is killed in between. A replacement that `diff` itself decides is another object, which is deleted.
 *
 * The successor is known by its id: `create` has returned it in this process, or a `check` of this run was followed by a
 * `diff` with it. A refresh and a destroy have no check, so nothing is kept then.
 */
export function keepingSuccessors(handlers: Handlers): Handlers {
  const { check, diff, create, delete: remove } = handlers;
  if (!check || !diff || !remove) return handlers;
  const checked = new Set<string>();
  const living = new Set<string>();
  const hash = (inputs: unknown) => stableHash(inputs, HASH_LENGTH);
  return {
    ...handlers,
    check: async (olds: unknown, news: unknown) => {
      const result = await check(olds, news);
      checked.add(hash(result.inputs));
      return result;
    },
    diff: async (id: string, olds: unknown, news: unknown) => {
      const result = await diff(id, olds, news);
      if (checked.has(hash(news)) && (result.replaces ?? []).length === 0) living.add(id);
      return result;
    },
    create: async (inputs: unknown) => {
      const result = await create(inputs);
      living.add(result.id);
      return result;
    },
    delete: async (id: string, outputs: unknown) => {
      if (!living.has(id)) return remove(id, outputs);
      report(id, "was replaced; the new resource has what the old one had, and nothing is deleted");
    },
  };
}
