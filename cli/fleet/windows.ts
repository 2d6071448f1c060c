import { setTimeout as wait } from "node:timers/promises";
import type { Fleet } from "./plan/fleet";
import { isOpen, nextOpening, windowWords } from "./plan/window";
import type { FleetWork } from "./waves-runner";

/** The clock of a computer may be set meanwhile, so a wait looks at it again. */
const LOOK_AGAIN_MILLISECONDS = 60_000;

interface WindowContext {
  /** The command that goes on later. */
  readonly again: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  readonly now?: () => Date;
}

/** Returns what a run does about the windows of its waves. */
export function windowsOf(
  { waves }: Fleet,
  { again, say, signal, now = () => new Date() }: WindowContext,
): Required<Pick<FleetWork, "closed" | "opening">> {
  const isClosed = (name: string) =>
    waves.some((wave) => wave.name === name && wave.window !== undefined && !isOpen(wave.window, now()));
  return {
    closed: () => new Set(waves.flatMap(({ name }) => (isClosed(name) ? [name] : []))),
    async opening(name) {
      const window = waves.find((wave) => wave.name === name)?.window;
      if (window === undefined) return true;
      const opens = nextOpening(window, now())?.toISOString();
      const title = `wave ${name}: its window, ${windowWords(window)}, is closed`;
      const until = opens === undefined ? "" : ` until ${opens}`;
      if (window.outside === "stop") {
        say(`${title}${until}; to go on then: ${again}`);
        return false;
      }
      say(`${title}; waiting${until}`);
      while (isClosed(name)) {
        const left = (nextOpening(window, now())?.getTime() ?? Infinity) - now().getTime();
        const isOver = await wait(Math.min(left, LOOK_AGAIN_MILLISECONDS), true, { signal }).catch(
          () => false,
        );
        if (!isOver) return false;
      }
      return true;
    },
  };
}
