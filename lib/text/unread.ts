const UNREAD = /^(\S+): unread: /;

/** The line of a preview for what could not be read of a machine: it may need a step, or none. */
export function describeUnread(machine: string, what: string): string {
  return `${machine}: unread: ${what}`;
}

/** The machine of a line that `describeUnread` wrote, or undefined. */
export function unreadMachine(line: string): string | undefined {
  return UNREAD.exec(line)?.[1];
}

/**
 * The lines of a preview that could not read the cluster: first why, then the steps by what is recorded, then what is not
 * known of the recorded machines that have no step. Empty when nothing is recorded and nothing is to be done.
 *
 * @param why the error in words
 * @param steps by the record alone
 * @param recorded names of the machines that were in the cluster
 * @param what is not known of each
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
