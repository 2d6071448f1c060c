import { quoted } from "../../../../lib/text/quote";

const UNITS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };
const DURATION = /^(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Returns the seconds of a duration such as "2h", "90m" or "1h30m"; undefined for zero or any other text. */
function durationSeconds(text: string): number | undefined {
  const match = text === "" ? null : DURATION.exec(text);
  if (!match) return undefined;
  const seconds = ["h", "m", "s"].reduce(
    (sum, unit, index) => sum + Number(match[index + 1] ?? 0) * (UNITS[unit] ?? 0),
    0,
  );
  return seconds > 0 ? seconds : undefined;
}

/** Validates a `stopAfter`. */
export function stopAfterIssue(text: string): string | undefined {
  if (durationSeconds(text) !== undefined || TIME_OF_DAY.test(text)) return undefined;
  return `${quoted(text)} is neither a duration nor a time of day; write e.g. "2h", "1h30m" or "06:00"`;
}

/**
 * Returns when a rollout has to be over.
 *
 * @param stopAfter a duration from the beginning, or a time of day: its next occurrence in the local time of the
 * run
 * @param begun when the rollout began
 * @throws RangeError when it is neither
 */
export function stopTime(stopAfter: string, begun: Date): Date {
  const seconds = durationSeconds(stopAfter);
  if (seconds !== undefined) return new Date(begun.getTime() + seconds * 1000);
  const match = TIME_OF_DAY.exec(stopAfter);
  if (!match) throw new RangeError(stopAfterIssue(stopAfter));
  const time = new Date(begun);
  time.setHours(Number(match[1]), Number(match[2]), 0, 0);
  if (time <= begun) time.setDate(time.getDate() + 1);
  return time;
}

/** Returns whether another node may begin: it would end in time if it took as long as the longest one so far. */
export function endsInTime(stop: Date, now: Date, longestSeconds: number): boolean {
  return now.getTime() + longestSeconds * 1000 < stop.getTime();
}
