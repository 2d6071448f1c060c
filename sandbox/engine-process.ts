import { spawn } from "node:child_process";
import type { EventEmitter } from "node:events";
import { createInterface } from "node:readline";

/** One run of the Pulumi command line. */
export interface EngineCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Secrets go in here, never into `args`. */
  readonly input?: string;
  /** The call is interrupted after this many seconds, and killed half a minute later. */
  readonly seconds: number;
  /** Takes each line of both streams as it comes. */
  readonly onLine?: (line: string) => void;
  /** Where interrupts of the person come from; default: this process. */
  readonly interrupts?: EventEmitter;
}

/** What a finished call printed. */
export interface EngineAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const SECONDS_TO_CANCEL = 30;
/** A terminal and npm both pass an interrupt on; the engine takes a second one for "stop at once". */
const SAME_INTERRUPT_MILLISECONDS = 1_000;

/**
 * Runs the Pulumi command line and waits for its end. It gets a process group of its own, so that one interrupt reaches
 * it once: it then ends its running steps in order and writes its state. A second interrupt stops it at once.
 * @throws Error when the program cannot be started or its time is up
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
  // a program that ends without reading its input closes the pipe under us
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
      // 'exit' and not 'close': a plugin that outlives a killed engine keeps the pipes open
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

/** Raised when a person interrupted the engine; what was done so far is in the state. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";

  constructor(command: string) {
    super(`interrupted while pulumi ${command} ran; the same command goes on where it stopped`);
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
