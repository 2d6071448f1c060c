import type { Readable, Writable } from "node:stream";
import type { ClientChannel } from "ssh2";
import { abortError, anySignal } from "../abort";
import { assertNotInterrupted, graceSignal, RunInterrupted } from "../process/interruption";
import { splitAnswer } from "./answer";
import { waitFor, WaitTimeout } from "../wait";
import { dial, type Dialed, pinned } from "./dial";
import {
  NothingToLogInWith,
  SshCommandError,
  SshCommandTimeout,
  SshConnectionLost,
  SshOutputTooLarge,
  SshUnreachable,
} from "./errors";
import { describeTarget, type SshTarget, type UnknownHost } from "./target";

const DIAL_SECONDS = 15;

export interface OpenOptions {
  /** how long to retry a machine that doesn't respond yet */
  seconds: number;
  /** timeout of one attempt; default 15 */
  dialSeconds?: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

export interface RunOptions {
  /** the command's purpose, for messages */
  name: string;
  /** never logged */
  stdin?: string;
  /** follows `stdin` */
  input?: Readable;
  /** takes the answer as it comes, without a limit; the answer that is returned is then empty. Its owner ends it */
  sink?: Writable;
  /** the line after which the command's answer begins: `answerMarker`; by default all of the output is the answer */
  marker?: string;
  seconds: number;
  signal?: AbortSignal;
}

export interface CommandOutput {
  stdout: string;
  stderr: string;
}

/** One SSH connection to a machine whose host key is pinned; several commands may run on it at once. */
export class SshConnection {
  private fault: string | undefined;

  private constructor(
    readonly target: SshTarget,
    readonly dialed: Dialed,
  ) {
    const { client } = dialed;
    client.on("error", (error) => (this.fault ??= error.message));
    client.on("close", () => (this.fault ??= "the machine closed it"));
  }

  /**
   * Dials until the machine responds: retries a refused, reset or unanswered connection until the deadline.
   *
   * @throws HostKeyMismatch, NoCommonAlgorithm, AuthenticationRefused, TooManyKeys, AccountRefused and UnreadableKey at once,
   *   SshUnreachable at the deadline
   */
  static async open(target: SshTarget, options: OpenOptions): Promise<SshConnection> {
    for (const hop of [target, ...(target.jumpHost ? [target.jumpHost] : [])]) {
      if (hop.privateKey || hop.agentSocket) continue;
      throw new NothingToLogInWith(hop);
    }
    return new SshConnection(target, await dialUntil(target, options));
  }

  /** Whether the connection is lost or closed; then open a new one. */
  get closed(): boolean {
    return this.fault !== undefined;
  }

  /**
   * Runs a command and returns its output, of standard output what follows the marker.
   *
   * @throws SshCommandError when it ends with another code than 0, by a signal, or without having printed the marker
   * @throws SshConnectionLost when the connection breaks before the command's end was seen: the outcome is unknown
   * @throws SshOutputTooLarge when it prints more than 16 MiB
   * @throws SshCommandTimeout at the deadline, RunInterrupted soon after an interrupt, the signal's reason when it aborts.
   *   The command may continue on the machine
   */
  async run(command: string, options: RunOptions): Promise<CommandOutput> {
    const { client } = this.dialed;
    const { name: machine, user } = this.target;
    const step = options.name;
    assertNotInterrupted();
    if (options.signal?.aborted) throw abortError(options.signal);
    if (this.fault !== undefined) throw new SshConnectionLost(machine, step, false, this.fault);
    const { seconds } = options;
    const signal = anySignal(options.signal, graceSignal());
    return new Promise<CommandOutput>((resolve, reject) => {
      const output = { stdout: "", stderr: "" };
      let channel: ClientChannel | undefined;
      let ended: { code: number | null; signal?: string } | undefined;
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        client.removeListener("close", lost);
        finish();
      };
      const lost = () =>
        settle(() =>
          reject(new SshConnectionLost(machine, step, true, this.fault ?? "the machine closed it")),
        );
      const giveUp = (error: Error) => {
        settle(() => reject(error));
        channel?.close();
      };
      const abort = () => {
        const isInterrupted = signal.reason instanceof RunInterrupted;
        giveUp(isInterrupted ? new RunInterrupted(goesOn(step, machine)) : abortError(signal));
      };
      const timer = setTimeout(() => {
        const { greeting } = splitAnswer(output.stdout, options.marker);
        giveUp(
          new SshCommandTimeout(machine, step, seconds, output.stderr.trim() ? output.stderr : greeting),
        );
      }, seconds * 1000);
      const finish = () => {
        if (!ended) return lost();
        const { code, signal: by } = ended;
        const { greeting, answer } = splitAnswer(output.stdout, options.marker);
        if (code === 0 && answer !== undefined)
          return settle(() => resolve({ stdout: answer, stderr: output.stderr }));
        const printed = { stderr: output.stderr, greeting, hasBegun: answer !== undefined };
        settle(() => reject(new SshCommandError(machine, step, code ?? undefined, by, printed, user)));
      };
      signal.addEventListener("abort", abort, { once: true });
      client.on("close", lost);
      const notStarted = (error: Error) =>
        settle(() => reject(new SshConnectionLost(machine, step, false, error.message)));
      try {
        client.exec(command, (error, opened) => {
          if (error) return notStarted(error);
          channel = opened;
          collect(opened, output, options, () =>
            giveUp(new SshOutputTooLarge(machine, step, MOST_MEBIBYTES)),
          );
          opened.on("exit", (code: number | null, by?: string) => (ended = { code, signal: by }));
          opened.on("close", finish);
          send(opened, options, giveUp);
        });
      } catch (error) {
        notStarted(error as Error);
      }
    });
  }

  close(): void {
    this.fault ??= "it was closed here";
    this.dialed.close();
  }
}

/** Says what becomes of a command whose run was interrupted. */
const goesOn = (step: string, machine: string): string =>
  `while \`${step}\` ran; what has begun on ${machine} goes on there to its end, and the next run waits for it`;

/** Dials until a machine responds whose host key `judge` accepts (default: the pinned key). */
async function dialUntil(
  target: UnknownHost & { hostKey?: string },
  options: OpenOptions,
  judge = pinned(target as SshTarget),
): Promise<Dialed> {
  const { seconds, dialSeconds = DIAL_SECONDS, signal, progress } = options;
  const what = `SSH on ${describeTarget(target)}`;
  const each = Math.min(dialSeconds, seconds) * 1000;
  const probe = async (stop: AbortSignal) => ({ done: await dial(target, judge, each, stop) });
  try {
    return await waitFor({ what, seconds, signal, progress, probe });
  } catch (error) {
    if (error instanceof WaitTimeout) throw new SshUnreachable(target, error.lastSeen, seconds);
    throw error;
  }
}

/** How much of what a login shell prints is kept before an answer that is passed on, in characters. */
const LONGEST_GREETING = 2 ** 16;

/** Limit of what a command prints on both streams, in MiB. */
const MOST_MEBIBYTES = 16;

function collect(
  channel: ClientChannel,
  output: CommandOutput,
  { sink, marker }: Pick<RunOptions, "sink" | "marker">,
  onTooMuch: () => void,
): void {
  channel.setEncoding("utf8");
  channel.stderr.setEncoding("utf8");
  const take = (stream: keyof CommandOutput) => (text: string) => {
    if (output.stdout.length + output.stderr.length + text.length > MOST_MEBIBYTES * 2 ** 20) onTooMuch();
    else output[stream] += text;
  };
  channel.on("data", sink === undefined ? take("stdout") : passOn(channel, output, sink, marker));
  channel.stderr.on("data", take("stderr"));
  // a command that ends without reading its standard input breaks our side of the pipe; its exit code is enough
  channel.on("error", () => undefined);
}

/** Returns a listener that keeps the output before the answer, and writes the answer as fast as its reader takes it. */
function passOn(
  channel: ClientChannel,
  output: CommandOutput,
  sink: Writable,
  marker: string | undefined,
): (text: string) => void {
  let hasBegun = marker === undefined;
  const write = (text: string) => {
    if (text === "" || sink.destroyed || sink.write(text)) return;
    channel.pause();
    const resume = () => {
      sink.off("drain", resume).off("close", resume);
      channel.resume();
    };
    sink.on("drain", resume).on("close", resume);
  };
  return (text) => {
    if (hasBegun) return write(text);
    const printed = output.stdout + text;
    const { answer } = splitAnswer(printed, marker);
    output.stdout =
      answer === undefined
        ? printed.slice(-LONGEST_GREETING)
        : // what is left says that the step has begun
          printed.slice(0, printed.length - answer.length);
    if (answer === undefined) return;
    hasBegun = true;
    write(answer);
  };
}

/** Writes what the command reads; a failure of its source ends the command. */
function send(
  channel: ClientChannel,
  { stdin = "", input }: Pick<RunOptions, "stdin" | "input">,
  giveUp: (error: Error) => void,
): void {
  if (input === undefined) {
    channel.end(stdin);
    return;
  }
  channel.write(stdin);
  input.on("error", giveUp);
  input.pipe(channel);
}

class Seen extends Error {}

/**
 * Returns a machine's host key at first contact, without logging in. A jump host must present its pinned key.
 *
 * @returns "type base64", ed25519 when the machine has one
 * @throws SshUnreachable at the deadline
 */
export async function scanHostKey(
  target: UnknownHost,
  seconds: number,
  signal?: AbortSignal,
): Promise<string> {
  let seen = "";
  const judge = (found: string) => {
    seen = found;
    return new Seen();
  };
  await dialUntil(target, { seconds, signal }, judge).catch((error: unknown) => {
    if (!(error instanceof Seen)) throw error;
  });
  return seen;
}

interface Held {
  opening: Promise<SshConnection>;
  opened?: SshConnection;
}

/** Keeps one shared connection per machine; reconnects at the next request after a loss. */
export class SshPool {
  private readonly held = new Map<string, Held>();
  private isClosed = false;

  constructor(private readonly options: OpenOptions) {}

  /** @throws what `SshConnection.open` throws; the next request dials again */
  async connection(target: SshTarget): Promise<SshConnection> {
    if (this.isClosed) throw new Error(`no connection to ${target.name}: the pool was closed`);
    const key = `${target.user}@${target.address}:${target.port} ${target.hostKey} ${target.jumpHost?.address ?? ""}`;
    const known = this.held.get(key);
    if (known && !known.opened?.closed) return known.opening;
    const fresh: Held = { opening: SshConnection.open(target, this.options) };
    this.held.set(key, fresh);
    try {
      fresh.opened = await fresh.opening;
    } catch (error) {
      if (this.held.get(key) === fresh) this.held.delete(key);
      throw error;
    }
    return fresh.opened;
  }

  /** Closes all connections, including those that are still being opened. */
  close(): void {
    this.isClosed = true;
    for (const { opening } of this.held.values())
      opening.then((opened) => opened.close()).catch(() => undefined);
    this.held.clear();
  }
}
