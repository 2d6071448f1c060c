import { readProcess } from "../../lib/process/identity";
import { descendants, killProcess } from "../support/process-tree";
import { kill, until } from "../support/temporal-server";
import type { FleetCommand } from "./fleet-command";

/** A `foresail fleet worker` of a test. */
export class FleetWorker {
  private constructor(private readonly running: ReturnType<FleetCommand["start"]>) {}

  /** Starts the worker of a region, and waits until it works. */
  static async start(command: FleetCommand, region: string, ...others: string[]): Promise<FleetWorker> {
    const running = command.start("fleet", "worker", "--region", region, ...others);
    await until(`the worker of ${region} works: ${running.printed()}`, () =>
      /^working on /m.test(running.printed()),
    );
    return new FleetWorker(running);
  }

  /** Kills the worker alone; the stacks on which it works go on. */
  kill(): Promise<void> {
    return kill(this.running.child);
  }

  /** Kills everything that it has begun, too, as when its machine goes away. */
  async killMachine(): Promise<void> {
    const { pid = 0 } = this.running.child;
    const all = [readProcess(pid), ...descendants(pid)];
    for (const process of all) if (process !== undefined) killProcess(process);
    await this.running.ended;
  }

  printed(): string {
    return this.running.printed();
  }

  /** Asks it to stop. @returns its exit code */
  async stop(): Promise<number> {
    this.running.child.kill("SIGTERM");
    return (await this.running.ended).exitCode;
  }
}
