import { describeTarget, type UnknownHost } from "./target";

/** The machine presented another host key than the pinned one. Nothing was sent to it. */
export class HostKeyMismatch extends Error {
  override readonly name = "HostKeyMismatch";
  readonly machine: string;

  constructor(
    target: UnknownHost,
    readonly expected: string,
    readonly found: string,
  ) {
    super(
      `${describeTarget(target)} shows the host key ${found}, pinned is ${expected}. ` +
        `Someone may be listening in between, or the machine was reinstalled: compare with ` +
        `/etc/ssh/ssh_host_*_key.pub on its console, and only if that is the key, set it as the machine's hostKey.`,
    );
    this.machine = target.name;
  }
}

/** The machine responds, and refuses the user or the key. */
export class AuthenticationRefused extends Error {
  override readonly name = "AuthenticationRefused";
  readonly machine: string;

  constructor(target: UnknownHost, why: string) {
    super(
      `${describeTarget(target)} refused to log in ${target.user}: ${why}. ` +
        `Check the machine's user, and that the public half of ${target.privateKey ? "the configured private key" : "a key in the SSH agent"} ` +
        `is in that user's authorized_keys.`,
    );
    this.machine = target.name;
  }
}

/** The private key for a machine can't be parsed. No login was attempted. */
export class UnreadableKey extends Error {
  override readonly name = "UnreadableKey";
  readonly machine: string;

  /** @param why the kind of fault only, never the key */
  constructor(target: UnknownHost, why: string) {
    super(
      `${describeTarget(target)}: its private key can't be read: ${why}. ` +
        `Give an unencrypted key in OpenSSH or PEM format, whole and with its line breaks.`,
    );
    this.machine = target.name;
  }
}

/** No SSH connection within the deadline. `lastSeen` is the last reason as text. */
export class SshUnreachable extends Error {
  override readonly name = "SshUnreachable";
  readonly machine: string;

  constructor(
    target: UnknownHost,
    readonly lastSeen: string,
    readonly seconds: number,
  ) {
    super(
      `${describeTarget(target)} could not be reached over SSH within ${seconds} s, last: ${lastSeen}. ` +
        `Check that it is up, that sshd listens on this address and port, and that a firewall lets you through.`,
    );
    this.machine = target.name;
  }
}

/**
 * The connection was lost before the command's end was seen. With `started`, the outcome is unknown: the command may
 * have finished or may still run. Without it, the command never started.
 */
export class SshConnectionLost extends Error {
  override readonly name = "SshConnectionLost";

  constructor(
    readonly machine: string,
    readonly step: string,
    readonly started: boolean,
    why: string,
  ) {
    super(
      `${machine}: the SSH connection was lost ${started ? "during" : "before"} "${step}" (${why}). ` +
        (started
          ? "Whether it ended is unknown; run the same again, it takes up what is there."
          : "The step did not begin; run the same again."),
    );
  }
}

/** A command did not end within its deadline. It may still run on the machine. */
export class SshCommandTimeout extends Error {
  override readonly name = "SshCommandTimeout";

  constructor(
    readonly machine: string,
    readonly step: string,
    readonly seconds: number,
    readonly stderr: string,
  ) {
    super(
      `${machine}: "${step}" did not end within ${seconds} s and may still run there.` +
        (stderr ? ` It last said:\n${stderr}` : ""),
    );
  }
}

/** A command ended with an exit code other than 0, or by a signal. */
export class SshCommandError extends Error {
  override readonly name = "SshCommandError";
  readonly machine: string;
  readonly step: string;
  readonly exitCode?: number;
  readonly signal?: string;
  /** the last 20 lines */
  readonly stderr: string;
  readonly stdout: string;

  constructor(failure: {
    machine: string;
    step: string;
    exitCode?: number;
    signal?: string;
    stderr: string;
    stdout: string;
  }) {
    const stderr = lastLines(failure.stderr);
    const how = failure.signal
      ? `was ended by ${failure.signal}`
      : `failed with exit code ${failure.exitCode}`;
    super(`${failure.machine}: "${failure.step}" ${how}${stderr ? `:\n${stderr}` : ", without a word"}`);
    this.machine = failure.machine;
    this.step = failure.step;
    this.exitCode = failure.exitCode;
    this.signal = failure.signal;
    this.stderr = stderr;
    this.stdout = failure.stdout;
  }
}

const TAIL_LINES = 20;

/** Returns the last 20 lines of a text. */
export function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
