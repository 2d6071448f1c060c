import { countingChanges } from "./changes";
import { displayed } from "./displayed-handlers";
import type { Handlers } from "./handler-types";
import { keepingSuccessors } from "./replacement";

type Diff = NonNullable<Handlers["diff"]>;

interface Inputs {
  readonly steps?: unknown;
}

/** Every list of steps that a check in this process returned. */
const made = new Set<string>();

/**
 * Loads handlers on demand and makes their `diff` ignore steps of earlier runs; what the engine prints of them can be
 * displayed. A refresh calls diff without check,
 * with the inputs that the last run recorded; their steps are done, and every resource would count as changed.
 *
 * @param modules key → loads the module of its handlers; called once, on first use
 */
export function trustingThisRun<Key extends string>(
  modules: Readonly<Record<Key, () => { readonly handlers: Handlers }>>,
): Readonly<Record<Key, Handlers>> {
  const trusting = {} as Record<Key, Handlers>;
  for (const key of Object.keys(modules) as Key[]) {
    let loaded: Handlers | undefined;
    const load = () => trustThisRun(countingChanges(displayed(keepingSuccessors(modules[key]().handlers))));
    const get = () => (loaded ??= load());
    Object.defineProperty(trusting, key, { enumerable: true, get });
  }
  return trusting;
}

function trustThisRun(handlers: Handlers): Handlers {
  const { check, diff } = handlers;
  if (!check || !diff) return handlers;
  return {
    ...handlers,
    check: async (olds: unknown, news: unknown) => {
      const result = await check(olds, news);
      const { steps } = (result.inputs ?? {}) as Inputs;
      made.add(JSON.stringify(steps));
      return result;
    },
    diff: (id: Parameters<Diff>[0], olds: unknown, news: Inputs) =>
      diff(id, olds, made.has(JSON.stringify(news.steps)) ? news : { ...news, steps: [] }),
  };
}
