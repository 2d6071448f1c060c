import { displayText } from "../text/display";
import { remedyOf } from "./remedies";
import { describeTarget, type UnknownHost } from "./target";

class SshError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The machine presented another host key than the pinned one. Nothing was sent to it. */
export class HostKeyMismatch extends SshError {
  constructor(target: UnknownHost, expected: string, found: string) {
    super(
      `${describeTarget(target)} shows the host key ${found}, pinned is ${expected}. ` +
        `Someone may be listening in between, or the machine was reinstalled: compare with ` +
        `/etc/ssh/ssh_host_*_key.pub on its console, and only if that is the key, set it as the machine's hostKey.`,
    );
  }
}

/** The machine and foresail have no algorithm in common. Nothing was sent to it. */
export class NoCommonAlgorithm extends SshError {}

/** The machine responds, and refuses the user or the key. */
export class AuthenticationRefused extends SshError {
  constructor(target: UnknownHost, why: string) {
    const key = target.privateKey ? "the configured private key" : "a key in the SSH agent";
    super(
      `${describeTarget(target)} refused to log in ${target.user}: ${why}. ` +
        `Check the machine's user, and that the public half of ${key} is in that user's authorized_keys.`,
    );
  }
}

/** Nothing is here to log in with; the machine was not asked. */
export class NothingToLogInWith extends AuthenticationRefused {
  constructor(target: UnknownHost) {
    super(target, "there is neither a private key nor an SSH agent to log in with");
  }
}

/** The machine ended the login before it was offered the right key. */
export class TooManyKeys extends SshError {
  /** @param keys that the SSH agent offers; undefined when a private key is configured, or when it is unknown */
  constructor(target: UnknownHost, keys: number | undefined) {
    const offered =
      keys === undefined
        ? ""
        : ` The SSH agent offers ${keys} ${keys === 1 ? "key" : "keys"}, one after the other.`;
    super(
      `${describeTarget(target)} ended the login of ${target.user}: too many authentication failures.${offered} ` +
        `The machine allows fewer (MaxAuthTries in its sshd_config). Set foresail:sshPrivateKey, ` +
        `or load only the key of this machine into the SSH agent: ssh-add -D; ssh-add FILE.`,
    );
  }
}

/** The machine accepts the key, and does not let the account log in. */
export class AccountRefused extends SshError {
  /** @param why the machine's own words */
  constructor(target: UnknownHost, why: string) {
    super(
      `${describeTarget(target)} does not let ${target.user} log in: ${why} ${remedyOf(why, target.user)}`,
    );
  }
}

/** The private key for a machine can't be parsed. No login was attempted. */
export class UnreadableKey extends SshError {
  /** @param why the kind of fault only, never the key */
  constructor(target: UnknownHost, why: string) {
    super(
      `${describeTarget(target)}: its private key can't be read: ${why}. ` +
        `Give an unencrypted key in OpenSSH or PEM format, whole and with its line breaks.`,
    );
  }
}

/** No SSH connection within the deadline. */
export class SshUnreachable extends SshError {
  /** @param lastSeen the last reason as text */
  constructor(target: UnknownHost, lastSeen: string, seconds: number) {
    super(
      `${describeTarget(target)} could not be reached over SSH within ${seconds} s, last: ${lastSeen}. ` +
        `Check that it is up, that sshd listens on this address and port, and that a firewall lets you through.`,
    );
  }
}

/**
 * The connection was lost before the command's end was seen. With `started`, the outcome is unknown: the command may
 * have finished or may still run. Without it, the command never started.
 */
export class SshConnectionLost extends SshError {
  constructor(
    machine: string,
    step: string,
    readonly started: boolean,
    why: string,
  ) {
    const next = started
      ? "Whether it ended is unknown; run the same again, it takes up what is there."
      : "The step did not begin; run the same again.";
    const when = started ? "during" : "before";
    super(`${machine}: the SSH connection was lost ${when} "${step}" (${why}). ${next}`);
  }
}

/** A command did not end within its deadline. It may still run on the machine. */
export class SshCommandTimeout extends SshError {
  /** @param printed what the command printed, no part of its answer */
  constructor(machine: string, step: string, seconds: number, printed: string) {
    const last = printed.trim() ? ` It last said:\n${displayText(lastLines(printed))}` : "";
    super(`${machine}: "${step}" did not end within ${seconds} s and may still run there.${last}`);
  }
}

/** A command printed more than is kept. It was ended, and may still run on the machine. */
export class SshOutputTooLarge extends SshError {
  constructor(machine: string, step: string, mebibytes: number) {
    super(
      `${machine}: "${step}" printed more than ${mebibytes} MiB and was ended. ` +
        `Check on the machine what prints there, such as root's shell profile.`,
    );
  }
}

/** What a failed command printed besides its answer, which may be secret. */
interface Printed {
  stderr: string;
  /** On standard output, before the command's own. */
  greeting: string;
  /** Whether the command itself ran: it printed the marker before its answer, or has none. */
  hasBegun: boolean;
}

/**
 * A command ended with an exit code other than 0, by a signal, or without having begun. The message has the last 20 lines
 * of its stderr, or of what was printed before the answer, and what to do when the machine did not run it.
 */
export class SshCommandError extends SshError {
  /** These lines alone. */
  readonly words: string;
  /** Whether the command ran: else the login, its shell or sudo ended before it. */
  readonly hasBegun: boolean;

  constructor(
    machine: string,
    step: string,
    /** Undefined when a signal ended the command. */
    readonly exitCode: number | undefined,
    signal: string | undefined,
    { stderr, greeting, hasBegun }: Printed,
    user: string,
  ) {
    const failed = signal ? `was ended by ${signal}` : `failed with exit code ${exitCode}`;
    const how = hasBegun
      ? failed
      : `did not run: the login ended ${signal ? `by ${signal}` : `with exit code ${exitCode}`}`;
    const words = displayText(lastLines([greeting, stderr].filter((text) => text.trim() !== "").join("\n")));
    const remedy = hasBegun ? "" : `\n${remedyOf(words, user)}`;
    super(`${machine}: "${step}" ${how}${words ? `:\n${words}` : ", without output"}${remedy}`);
    this.words = words;
    this.hasBegun = hasBegun;
  }
}

const TAIL_LINES = 20;

/** Returns the last 20 lines of a text. */
export function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
