import type { Fleet } from "./plan/fleet";
import { isOpen, nextOpening, windowWords } from "./plan/window";
import type { FleetWork } from "./waves-runner";

/** The clock of a computer may be set meanwhile, so a wait looks at it again. */
const LONGEST_WAIT_MILLISECONDS = 60_000;

interface WindowContext {
  /** The command that goes on later. */
  readonly again: string;
  readonly say: (line: string) => void;
  /** Waits; false when the run ends meanwhile. */
  readonly wait: (milliseconds: number) => Promise<boolean>;
  /** After how many milliseconds a wait looks at the clock again; default: a minute. */
  readonly longestWait?: number;
  readonly now?: () => Date;
}

/** Returns what a run does about the windows of its waves. */
export function windowsOf(
  { waves }: Fleet,
  { again, say, wait, longestWait = LONGEST_WAIT_MILLISECONDS, now = () => new Date() }: WindowContext,
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
        if (!(await wait(Math.min(left, longestWait)))) return false;
      }
      return true;
    },
  };
}
