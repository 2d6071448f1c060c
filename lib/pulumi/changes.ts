import type { Handlers } from "./handler-types";

const CHANGING = ["create", "update", "delete"] as const;

let running = 0;
let ended = 0;

/**
 * Returns handlers whose creates, updates and deletes count as changes of this process, so that nothing that was read
 * before one of them is used after it.
 */
export function countingChanges(handlers: Handlers): Handlers {
  const counting: Record<string, unknown> = { ...handlers };
  for (const name of CHANGING) {
    const method = handlers[name] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    if (method === undefined) continue;
    counting[name] = async (...args: unknown[]) => {
      running += 1;
      try {
        return await method.apply(handlers, args);
      } finally {
        running -= 1;
        ended += 1;
      }
    };
  }
  return counting as unknown as Handlers;
}

/** Returns a number that is another one after each change of this process; undefined while one runs. */
export function changesSoFar(): number | undefined {
  return running > 0 ? undefined : ended;
}
