import { cutList } from "../../../lib/text/quote";
import { type Fleet, stacksOf } from "../plan/fleet";
import { isOpen, nextOpening, type Window, windowOf, windowWords } from "../plan/window";
import type { FleetWork } from "./waves-runner";

/** The clock of a computer may be set meanwhile, so a wait looks at it again. */
const LONGEST_WAIT_MILLISECONDS = 60_000;

interface WindowContext {
  /** The command that goes on later. */
  readonly again: string;
  readonly say: (line: string) => void;
  /** Waits, at most until a promise is fulfilled; false when the run ends meanwhile. */
  readonly wait: (milliseconds: number, ended?: Promise<void>) => Promise<boolean>;
  /** After how many milliseconds a wait looks at the clock again; default: a minute. */
  readonly longestWait?: number;
  readonly now?: () => Date;
}

/** A window, and what has it. */
interface Owned {
  readonly window: Window;
  /** "wave night: its window" */
  readonly title: string;
}

/** Returns the windows of stacks, each with what has it: a wave, or stacks that have their own. */
function ownedBy({ waves }: Fleet, stacks: readonly string[]): Owned[] {
  const owners = new Map<string, { window: Window; wave?: string; stacks: string[] }>();
  for (const wave of waves)
    for (const stack of wave.stacks.filter((one) => stacks.includes(one))) {
      const window = windowOf(wave, stack);
      if (window === undefined) continue;
      const isOfWave = window === wave.window;
      const key = isOfWave ? `wave ${wave.name}` : JSON.stringify(window);
      const owner = owners.get(key) ?? { window, stacks: [], ...(isOfWave && { wave: wave.name }) };
      owners.set(key, { ...owner, stacks: [...owner.stacks, stack] });
    }
  return [...owners.values()].map(({ window, wave, stacks: own }) => {
    const who = wave === undefined ? cutList(own, ", ") : `wave ${wave}`;
    return { window, title: `${who}: ${wave === undefined && own.length > 1 ? "their" : "its"} window` };
  });
}

/** Returns what a run does about the windows of its waves and stacks. */
export function windowsOf(
  fleet: Fleet,
  { again, say, wait, longestWait = LONGEST_WAIT_MILLISECONDS, now = () => new Date() }: WindowContext,
): Required<Pick<FleetWork, "closed" | "opening">> {
  const isClosed = (stack: string) => {
    const wave = fleet.waves.find(({ stacks }) => stacks.includes(stack));
    const window = wave && windowOf(wave, stack);
    return window !== undefined && !isOpen(window, now());
  };
  const said = new Set<string>();
  const sayOnce = (line: string) => {
    if (!said.has(line)) say(line);
    said.add(line);
  };
  return {
    closed: () => new Set(stacksOf(fleet).filter(isClosed)),
    async opening(stacks, ended) {
      if (!stacks.every(isClosed)) return true;
      const owned = ownedBy(fleet, stacks);
      const isAwaited = owned.some(({ window }) => window.outside === "wait");
      const mayWait = isAwaited || ended !== undefined;
      for (const { window, title } of owned) {
        const opens = nextOpening(window, now())?.toISOString();
        const until = opens === undefined ? "" : ` until ${opens}`;
        const closed = `${title}, ${windowWords(window)}, is closed`;
        if (window.outside === "wait") sayOnce(`${closed}; waiting${until}`);
        else if (mayWait) sayOnce(`${closed}${until}`);
        else say(`${closed}${until}; to go on then: ${again}`);
      }
      if (!mayWait) return false;
      let hasEnded = false;
      void ended?.then(() => (hasEnded = true));
      while (!hasEnded && stacks.every(isClosed)) {
        const opens = owned.map(({ window }) => nextOpening(window, now())?.getTime() ?? Infinity);
        const left = Math.min(...opens) - now().getTime();
        if (!(await wait(Math.min(left, longestWait), ended))) return false;
      }
      return true;
    },
  };
}
