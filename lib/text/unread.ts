const UNREAD = /^(\S+): unread: /;

/** Returns the preview line for a part of a machine that could not be read; it may need a step. */
export function describeUnread(machine: string, what: string): string {
  return `${machine}: unread: ${what}`;
}

/** Returns the machine of a line of `describeUnread`, or undefined. */
export function unreadMachine(line: string): string | undefined {
  return UNREAD.exec(line)?.[1];
}

/**
 * Returns the preview lines when the cluster could not be read: the reason, the steps from the recorded state, then the
 * unknown part of each recorded machine without a step. Empty when there are no machines and no steps.
 *
 * @param why the error text
 * @param steps from the recorded state alone
 * @param recorded names of the machines that were in the cluster
 * @param what the part of each that is unknown
 */
export function linesOfUnread(args: {
  why: string;
  steps: readonly string[];
  recorded: readonly string[];
  what: string;
}): string[] {
  const { why, steps, recorded, what } = args;
  const named = (machine: string) => steps.some((step) => /^[^\s:]+/.exec(step)?.[0] === machine);
  const unread = recorded
    .filter((machine) => !named(machine))
    .map((machine) => describeUnread(machine, what));
  if (steps.length + unread.length === 0) return [];
  return [`from the recorded state, since the cluster could not be read: ${why}`, ...steps, ...unread];
}
