import { spawn } from "node:child_process";
import type { EventEmitter } from "node:events";
import { createInterface } from "node:readline";

/** One run of the Pulumi command line. */
export interface EngineCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Secrets belong here, never in `args`. */
  readonly input?: string;
  /** The call is interrupted after this many seconds and killed 30 seconds later. */
  readonly seconds: number;
  /** Receives each line of both streams as it arrives. */
  readonly onLine?: (line: string) => void;
  /** The source of the user's interrupts; default: this process. */
  readonly interrupts?: EventEmitter;
}

/** The result and output of a finished call. */
export interface EngineAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const SECONDS_TO_CANCEL = 30;
/** A terminal and npm both forward an interrupt; the engine treats a second one as "stop at once". */
const SAME_INTERRUPT_MILLISECONDS = 1_000;

/**
 * Runs the Pulumi command line and waits until it ends. It gets its own process group, so that each interrupt reaches
 * it once. After the first one it finishes its running steps and writes its state; a second one stops it at once.
 * @throws Error when the program cannot be started or times out
 */
export async function callEngine(call: EngineCall): Promise<EngineAnswer> {
  const child = spawn(call.program, [...call.args], {
    cwd: call.folder,
    env: call.environment,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  const streams = (["stdout", "stderr"] as const).map((name) => {
    child[name].setEncoding("utf8");
    if (call.onLine !== undefined) createInterface({ input: child[name] }).on("line", call.onLine);
    return new Promise<void>((resolve) => {
      child[name].on("data", (text: string) => (output[name] += text)).on("close", resolve);
    });
  });
  // a program that ends without reading its input closes the pipe
  child.stdin.on("error", () => undefined).end(call.input ?? "");

  const interrupted = passInterrupts(call.interrupts ?? process, (signal) => child.kill(signal));
  let late = false;
  const timers = [
    setTimeout(() => {
      late = true;
      child.kill("SIGINT");
      timers.push(setTimeout(() => child.kill("SIGKILL"), SECONDS_TO_CANCEL * 1000));
    }, call.seconds * 1000),
  ];
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", (error) =>
        reject(new Error(`${call.program} cannot be started: ${error.message}`)),
      );
      // not 'close': a plugin that outlives a killed engine keeps the pipes open
      child.once("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
    });
    await Promise.race([Promise.all(streams), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
    if (late) throw new Error(`pulumi ${call.args[0]} did not end within ${call.seconds} s and was stopped`);
    if (interrupted.happened()) throw new InterruptedError(call.args[0] ?? "");
    return { exitCode, ...output };
  } finally {
    timers.forEach(clearTimeout);
    interrupted.forget();
  }
}

/** Thrown when the user interrupted the engine; what was done so far is in the state. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";

  constructor(command: string) {
    super(`interrupted while pulumi ${command} ran; run the same command again to continue`);
  }
}

function passInterrupts(
  from: EventEmitter,
  kill: (signal: NodeJS.Signals) => void,
): { happened(): boolean; forget(): void } {
  let last = 0;
  const pass = (signal: NodeJS.Signals): void => {
    const now = Date.now();
    if (now - last < SAME_INTERRUPT_MILLISECONDS) return;
    last = now;
    kill(signal === "SIGHUP" ? "SIGINT" : signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  signals.forEach((signal) => from.on(signal, pass));
  return {
    happened: () => last > 0,
    forget: () => signals.forEach((signal) => from.off(signal, pass)),
  };
}
