import colors from "picocolors";

/** Where a program came from; shown at the end of a step's line. */
export type Origin = "installed" | "downloaded" | "built" | "cached";

/** Reports what a long operation does, how long it took and where its result came from. */
export interface Reporter {
  /**
   * Runs the work. On a terminal a line at the bottom shows its progress; elsewhere one line is printed at its start.
   * At its end one line shows the title, the seconds, and the result's `from` if it has one.
   * @param title what is done, such as "Kubernetes 1.36.3"
   * @param work gets a function that shows its current activity
   * @returns the result of the work
   * @throws what the work throws, after a line that reports the failure
   */
  step<Result>(title: string, work: (update: (detail: string) => void) => Promise<Result>): Promise<Result>;
}

/** The reporter's output: a stream such as process.stderr. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

function originOf(result: unknown): string {
  if (typeof result !== "object" || result === null || !("from" in result)) return "";
  return typeof result.from === "string" ? `, ${result.from}` : "";
}

const secondsSince = (began: number) => ((Date.now() - began) / 1000).toFixed(1);

/** The running steps, drawn as one line at the bottom of a terminal; without a terminal nothing is drawn. */
class LiveLine {
  private readonly running = new Map<string, { began: number; detail: string }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly output: Output) {}

  show(title: string, detail: string, began: number): void {
    this.running.set(title, { began, detail });
    if (this.output.isTTY !== true) return;
    this.timer ??= setInterval(() => this.draw(), 250).unref();
    this.draw();
  }

  /** Removes a step from the line and prints its final line above the running ones. */
  end(title: string, lastWords: string): void {
    this.running.delete(title);
    this.output.write(`${this.output.isTTY === true ? "\r\u001b[2K" : ""}${lastWords}\n`);
    if (this.running.size > 0) return this.draw();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private draw(): void {
    if (this.output.isTTY !== true) return;
    const now = Date.now();
    const steps = [...this.running].map(([title, { began, detail }]) =>
      [title, `${Math.round((now - began) / 1000)} s`, detail].filter(Boolean).join(" "),
    );
    const line = `… ${steps.join(" · ")}`.slice(0, Math.max(20, (this.output.columns ?? 80) - 1));
    this.output.write(`\r\u001b[2K${colors.dim(line)}`);
  }
}

/** A reporter for users: a live line on a terminal, plain lines elsewhere; respects NO_COLOR. */
export function createReporter(output: Output = process.stderr): Reporter {
  const live = new LiveLine(output);
  return {
    async step(title, work) {
      const began = Date.now();
      if (output.isTTY !== true) output.write(`… ${title}\n`);
      live.show(title, "", began);
      try {
        const result = await work((detail) => live.show(title, detail, began));
        live.end(title, `${colors.green("✓")} ${title} (${secondsSince(began)} s${originOf(result)})`);
        return result;
      } catch (error) {
        live.end(title, `${colors.red("✗")} ${title} failed after ${secondsSince(began)} s`);
        throw error;
      }
    },
  };
}
