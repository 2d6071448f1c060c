import type { Command } from "commander";

/** Adds the command monitor, which keeps a cluster's services in sync between runs. */
export function addMonitorCommand(program: Command): void {
  program
    .command("monitor")
    .description("keep the services of a cluster through Azimuth in step, until it is interrupted")
    .option("--stack <name>", "the stack; default: the one that is selected")
    .addHelpText(
      "after",
      `
Nothing hangs on it: an up compares the services, too. It may be started, stopped and killed at any time.

Exit codes: 0 interrupted, 1 failed, 2 wrong use.`,
    )
    .action(async (options: { stack?: string }) => {
      const { monitor } = await import("./monitor.js");
      process.exitCode = await monitor(options);
    });
}
