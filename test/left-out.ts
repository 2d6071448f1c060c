/** Key of a reason for the reporter. */
interface Reasoned {
  leftOutReason?: string;
}

/**
 * Leaves out the running test, or in a `before` hook its whole suite, and says why in the runner's closing lines.
 * @param context mocha's `this`
 * @param reason what is missing on this machine
 */
export function leaveOut(context: Mocha.Context, reason: string): never {
  const current: (Mocha.Runnable & Reasoned & { type?: string }) | undefined =
    context.test ?? context.currentTest;
  if (current !== undefined) {
    current.leftOutReason = reason;
    if (current.type === "hook" && current.parent !== undefined)
      (current.parent as Reasoned).leftOutReason = reason;
  }
  context.skip();
}

/**
 * Leaves a suite out by day. Stands before everything that sets the suite up.
 *
 * @param instead what is tested by day
 */
export function byNight(instead: string): void {
  before(function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(this, `${instead}; FORESAIL_TEST_ALL=1 includes this one`);
  });
}

/** Why a pending test did not run: its own reason, or that of a suite around it. */
export function reasonOf(test: Mocha.Test): string {
  let ref: (Reasoned & { parent?: Mocha.Suite | undefined }) | undefined = test;
  while (ref !== undefined) {
    if (ref.leftOutReason !== undefined) return ref.leftOutReason;
    ref = ref.parent;
  }
  return "no reason given";
}
