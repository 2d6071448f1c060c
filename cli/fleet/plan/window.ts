import { z } from "zod";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const time = (text: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'write hours and minutes in quotes, from "00:00" to "23:59"')
    .describe(text);

/** When stacks may begin: a time of day on some days of the week, in a time zone. */
export const Window = z
  .strictObject({
    days: z
      .array(z.enum(DAYS))
      .min(1)
      .optional()
      .describe("Days on which the window begins; default: every day."),
    from: time('Local time at which the window begins, such as "22:00".'),
    to: time('Local time at which it ends; on the next day when it is not after "from".'),
    timeZone: z
      .string()
      .refine(isTimeZone, 'is not a time zone; write its IANA name, such as "Europe/Berlin" or "UTC"')
      .describe("IANA name of the time zone; the window follows its daylight saving time."),
    outside: z
      .enum(["stop", "wait"])
      .default("stop")
      .describe("`stop`: a run that meets the closed window ends and can be continued; `wait`: it waits."),
  })
  .describe("When the stacks of the wave may begin. A stack that has begun ends, also after the window.");

export type Window = z.output<typeof Window>;

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const MINUTE = 60_000;
/** Longest time to the next opening: a weekly window whose time daylight saving skips once, and a margin. */
const LOOK_AHEAD_MINUTES = 15 * 24 * 60;

const minutesOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** Returns a function that says whether a window is open at a time, by the wall clock of its zone. */
function opening({ days, from, to, timeZone }: Window): (at: number) => boolean {
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const [first, end] = [minutesOf(from), minutesOf(to)];
  const beginsOn = (day: number) =>
    days === undefined || days.includes(DAYS[(day + DAYS.length) % DAYS.length] ?? "mon");
  return (at) => {
    const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]));
    const day = DAYS.findIndex((name) => name === parts.weekday?.toLowerCase());
    const minute = Number(parts.hour) * 60 + Number(parts.minute);
    if (first < end) return beginsOn(day) && minute >= first && minute < end;
    return (beginsOn(day) && minute >= first) || (beginsOn(day - 1) && minute < end);
  };
}

/** Returns whether a window is open at a time. */
export const isOpen = (window: Window, at: Date): boolean => opening(window)(at.getTime());

/** Returns the next time at which a window is open: the time itself, or the beginning of a minute. */
export function nextOpening(window: Window, at: Date): Date | undefined {
  const isOpenAt = opening(window);
  if (isOpenAt(at.getTime())) return at;
  const start = Math.floor(at.getTime() / MINUTE) * MINUTE;
  for (let minute = 1; minute <= LOOK_AHEAD_MINUTES; minute += 1)
    if (isOpenAt(start + minute * MINUTE)) return new Date(start + minute * MINUTE);
  return undefined;
}

/** A wave, as far as its windows go. */
interface WindowsOfWave {
  readonly window?: Window | undefined;
  readonly windows?: Readonly<Record<string, Window>> | undefined;
}

/** Returns the window of a stack of a wave: its own, or else the wave's. */
export const windowOf = ({ window, windows = {} }: WindowsOfWave, stack: string): Window | undefined =>
  Object.hasOwn(windows, stack) ? windows[stack] : window;

/** Returns a window as words: "mon, tue 22:00 to 04:00 Europe/Berlin". */
export const windowWords = ({ days, from, to, timeZone }: Window): string =>
  `${days === undefined ? "" : `${days.join(", ")} `}${from} to ${to} ${timeZone}`;
