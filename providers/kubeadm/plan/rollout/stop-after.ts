import { quoted } from "../../../../lib/text/quote";

const DURATION = /^(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Returns the seconds of a duration such as "2h", "90m" or "1h30m"; undefined for zero or any other text. */
function durationSeconds(text: string): number | undefined {
  const [hours = 0, minutes = 0, seconds = 0] =
    DURATION.exec(text)
      ?.slice(1)
      .map((part) => Number(part ?? 0)) ?? [];
  return hours * 3600 + minutes * 60 + seconds || undefined;
}

/** Validates a `stopAfter`. */
export function stopAfterIssue(text: string): string | undefined {
  if (durationSeconds(text) !== undefined || TIME_OF_DAY.test(text)) return undefined;
  return `${quoted(text)} is neither a duration nor a time of day; write e.g. "2h", "1h30m" or "06:00"`;
}

/**
 * Returns when a rollout has to be over: after a duration from its beginning, or at the next occurrence of a time of day
 * in the local time of the run. @throws RangeError when the text is neither
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
