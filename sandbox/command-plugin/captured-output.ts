/** Collects a command's stdout and stderr, and passes whole lines of the wanted streams to a log as they come. */
import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";

/** Which streams are logged; absent means both, as in 1.2.1. */
export type Logging = "none" | "stdout" | "stderr" | "stdoutAndStderr";

export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
}

export class CapturedOutput {
  private readonly stdout: string[] = [];
  private readonly stderr: string[] = [];
  private readonly both: string[] = [];

  constructor(
    private readonly logging: Logging | undefined,
    private readonly log: (line: string) => void,
  ) {}

  /** Reads both streams until they end. */
  read(stdout: Readable, stderr: Readable): void {
    const both = this.logging === undefined || this.logging === "stdoutAndStderr";
    this.follow(stdout, this.stdout, both || this.logging === "stdout");
    this.follow(stderr, this.stderr, both || this.logging === "stderr");
  }

  /** Both outputs, without one line end at the end of each. */
  result(): CommandOutput {
    return { stdout: withoutLineEnd(this.stdout.join("")), stderr: withoutLineEnd(this.stderr.join("")) };
  }

  /** Both outputs in the order in which they came, for error messages. */
  interleaved(): string {
    return this.both.join("");
  }

  private follow(stream: Readable, into: string[], logged: boolean): void {
    const decoder = new StringDecoder("utf8");
    let line = "";
    const take = (text: string): void => {
      into.push(text);
      this.both.push(text);
      if (!logged) return;
      const lines = (line + text).split("\n");
      line = lines.pop() ?? "";
      for (const whole of lines) this.log(whole);
    };
    stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    stream.on("end", () => {
      take(decoder.end());
      if (logged && line !== "") this.log(line);
    });
  }
}

function withoutLineEnd(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}
