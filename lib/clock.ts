/** Clocks that differ by less than this are equal for certificates and messages. */
const TOLERANCE_MILLISECONDS = 60_000;

const UNITS: readonly [string, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Formats a length of time in its largest unit: "3 hours", "1 day". */
export function durationText(milliseconds: number): string {
  const length = Math.abs(milliseconds);
  const [unit, size] = UNITS.find(([, each]) => length >= each) ?? ["second", 1000];
  const count = Math.round(length / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/**
 * Returns how another clock differs from the one here: "3 hours behind the clock here"; undefined when they agree to a
 * minute, or the other time is not a time.
 */
export function clockDifference(theirs: Date, here: Date): string | undefined {
  const difference = theirs.getTime() - here.getTime();
  if (!(Math.abs(difference) > TOLERANCE_MILLISECONDS)) return undefined;
  return `${durationText(difference)} ${difference < 0 ? "behind" : "ahead of"} the clock here`;
}

/** Returns what to do about a clock that differs. @param whose "the clock of the API server" */
export function clockAdvice(whose: string, theirs: Date, here: Date): string | undefined {
  const difference = clockDifference(theirs, here);
  if (difference === undefined) return undefined;
  const times = `${theirs.toISOString()} there, ${here.toISOString()} here`;
  return `${whose} is ${difference} (${times}): set the wrong one, for example with: timedatectl set-ntp true`;
}

/** A certificate's period of validity. */
interface Validity {
  from: Date;
  to: Date;
}

/**
 * Returns what to do when the certificate of an API server is not yet or no longer valid.
 *
 * @param date the server's own time, if it said one
 */
export function certificateAdvice(
  { from, to }: Validity,
  here: Date,
  date: Date | undefined,
): string | undefined {
  const differing = date && clockAdvice("the clock of the API server", date, here);
  if (differing !== undefined) return differing;
  if (here > to)
    return `its certificate expired ${durationText(here.getTime() - to.getTime())} ago (${to.toISOString()}): renew it on the control plane with: kubeadm certs renew all`;
  if (here < from)
    return `its certificate becomes valid in ${durationText(from.getTime() - here.getTime())} (${from.toISOString()}), and the API server's clock agrees with the one here: the clock of the machine that issued it was wrong, so renew it there with: kubeadm certs renew all`;
  return undefined;
}
