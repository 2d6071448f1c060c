#!/usr/bin/env node
import { Command } from "commander";
import { addMonitorCommand } from "./monitor-command";
import { addPlanCommand } from "./plan-command";
import { addReviewCommands } from "./review-commands";

/** The command `foresail`. */
async function main(): Promise<void> {
  const program = new Command("foresail")
    .description("Kubernetes clusters that you can preview")
    .showHelpAfterError("(--help tells more)")
    .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2));
  program
    .command("unlock")
    .description("clear the lock that a killed `pulumi` left on a stack of a file backend")
    .requiredOption("--stack <name>", "the stack that is locked")
    .option("--project <name>", "the Pulumi project of the stack", "foresail")
    .option("--yes", "clear a lock of another host without asking", false)
    .action(async (options: { stack: string; project: string; yes: boolean }) => {
      const { unlock } = await import("./unlock.js");
      process.exitCode = await unlock(options);
    });
  addPlanCommand(program);
  addReviewCommands(program);
  addMonitorCommand(program);
  await program.parseAsync();
}

main().catch((error: unknown) => {
  console.error(`foresail: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
