/**
 * What each exit code of every command of foresail means. A code has one meaning in all of them
 * (docs/operations.md#exit-codes).
 */
export const EXIT_CODES = {
  done: [0, "done, or there is nothing to do; `plan`: nothing blocks the rollout"],
  failed: [1, "failed; the message says what to do"],
  usage: [2, "wrong usage, or a question can't be asked without a terminal"],
  changed: [3, "the cluster is no longer as reviewed; nothing was touched"],
  paused: [
    4,
    "a rollout is paused, a gate waits for approval, or a window is closed; run the same command to continue",
  ],
  blocked: [5, "something blocks the rollout; `doctor`: a machine can't become a node, or a tool is missing"],
  unknown: [
    6,
    "a check could not be made: `plan` doesn't know whether something blocks the rollout, `drift` a machine's files, `doctor` a machine",
  ],
  otherDistribution: [7, "the cluster was not made with kubeadm"],
  locked: [8, "a lock is left on the stack"],
  declined: [9, "a question was answered with no; nothing was changed"],
  drifted: [10, "files on machines differ from what foresail wrote"],
  attention: [11, "`status` found something that needs attention"],
  interrupted: [130, "interrupted; run the same command to continue"],
} as const satisfies Record<string, readonly [number, string]>;

type ExitName = keyof typeof EXIT_CODES;

/** The exit codes of each command. */
export const EXITS_OF = {
  plan: ["done", "failed", "usage", "blocked", "unknown", "otherDistribution"],
  preview: ["done", "failed", "usage"],
  up: ["done", "failed", "usage", "changed", "paused", "locked", "declined", "interrupted"],
  doctor: ["done", "failed", "usage", "blocked", "unknown"],
  adopt: ["done", "failed", "usage"],
  init: ["done", "failed", "usage"],
  report: ["done", "failed", "usage"],
  release: ["done", "failed", "usage", "locked", "declined", "interrupted"],
  unlock: ["done", "failed", "usage", "locked", "declined"],
  drift: ["done", "failed", "usage", "unknown", "drifted"],
  status: ["done", "failed", "usage", "attention"],
  history: ["done", "failed", "usage"],
  kubeconfig: ["done", "failed", "usage"],
  ssh: ["done", "failed", "usage"],
  "backup now": ["done", "failed", "usage", "interrupted"],
  "backup list": ["done", "failed", "usage"],
  "backup verify": ["done", "failed", "usage"],
  restore: ["done", "failed", "usage", "declined", "interrupted"],
  "bundle create": ["done", "failed", "usage"],
  "bundle verify": ["done", "failed", "usage"],
  monitor: ["done", "failed", "usage"],
  completion: ["done", "failed", "usage"],
  man: ["done", "failed", "usage"],
  "config show": ["done", "failed", "usage"],
  "fleet preview": ["done", "failed", "usage", "interrupted"],
  "fleet report": ["done", "failed", "usage"],
  "fleet up": ["done", "failed", "usage", "changed", "paused", "locked", "declined", "interrupted"],
  "fleet drift": ["done", "failed", "usage", "unknown", "drifted", "interrupted"],
  "fleet destroy": ["done", "failed", "usage", "paused", "locked", "declined", "interrupted"],
  "fleet changed": ["done", "failed", "usage"],
  "fleet collect": ["done", "failed", "usage"],
  "fleet gate": ["done", "failed", "usage", "interrupted"],
  "fleet window": ["done", "failed", "usage", "paused", "interrupted"],
  "fleet export github": ["done", "failed", "usage"],
  "fleet export gitlab": ["done", "failed", "usage"],
  "fleet export operator": ["done", "failed", "usage"],
  "fleet worker": ["done", "failed", "usage"],
  "fleet approve": ["done", "failed", "usage"],
  "fleet pause": ["done", "failed", "usage"],
  "fleet resume": ["done", "failed", "usage"],
  "fleet set version": ["done", "failed", "usage"],
  "fleet status": ["done", "failed", "usage"],
} as const satisfies Record<string, readonly ExitName[]>;

export type CommandName = keyof typeof EXITS_OF;

/** Exit codes by the names of their meanings. */
export const EXIT = Object.fromEntries(Object.entries(EXIT_CODES).map(([name, [code]]) => [name, code])) as {
  readonly [Name in ExitName]: (typeof EXIT_CODES)[Name][0];
};

/** Returns the lines of a command's help about its exit codes. */
export function exitCodesHelp(command: CommandName): string {
  const lines = EXITS_OF[command].map((name) => {
    const [code, meaning] = EXIT_CODES[name];
    return `  ${code}  ${meaning.replaceAll("`", "")}`;
  });
  return `\nExit codes:\n${lines.join("\n")}`;
}

/** An error that ends a command with an exit code of its own. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";

  constructor(
    readonly exit: ExitName,
    message: string,
  ) {
    super(message);
  }
}

/** The command line is wrong. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";

  constructor(message: string) {
    super("usage", message);
  }
}
