import type { Handlers } from "./handler-types";

type Diff = NonNullable<Handlers["diff"]>;

interface Inputs {
  readonly steps?: unknown;
}

/** Every list of steps that a check of this process made. */
const made = new Set<string>();

/**
 * Handlers whose `diff` believes the steps of this run alone. A refresh asks for a diff without a check before it, with the
 * inputs that the last run recorded: their steps are done, and by them every resource would count as changed.
 *
 * @param all handlers by key, each loaded when it is asked for
 */
export function believingThisRun<All extends Record<string, Handlers>>(all: All): All {
  const believing = {} as All;
  for (const key of Object.keys(all)) {
    let known: Handlers | undefined;
    const get = () => (known ??= believeThisRun(all[key] as Handlers));
    Object.defineProperty(believing, key, { enumerable: true, get });
  }
  return believing;
}

function believeThisRun(handlers: Handlers): Handlers {
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
