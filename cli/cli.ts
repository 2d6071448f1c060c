#!/usr/bin/env node
import { Command, Option } from "commander";
import { printError } from "./terminal";
import type { PlanOptions } from "./plan";
import type { PreviewOptions } from "./preview";
import type { UnlockOptions } from "./unlock";
import type { UpOptions } from "./up";

/** Returns an action that runs a command, whose module is loaded for it alone, and sets its exit code. */
function running<Options>(load: () => Promise<(options: Options) => Promise<number>>) {
  return async (options: Options): Promise<void> => {
    const command = await load();
    process.exitCode = await command(options);
  };
}

const STACK = ["--stack <name>", "the stack; default: the one that is selected"] as const;

/** Adds the command monitor, which keeps a cluster's services in sync between runs. */
function addMonitorCommand(program: Command): void {
  program
    .command("monitor")
    .description("keep the services of a cluster through Azimuth in step, until it is interrupted")
    .option(...STACK)
    .addHelpText(
      "after",
      `
The monitor is optional: an up compares the services, too. It may be started, stopped and killed at any time.

Exit codes: 0 interrupted, 1 failed, 2 wrong use.`,
    )
    .action(running<{ stack?: string }>(async () => (await import("./monitor.js")).monitor));
}

/** Adds the command plan, which forecasts a rollout with read access alone. */
function addPlanCommand(program: Command): void {
  program
    .command("plan")
    .description("what a version rollout of any kubeadm cluster would do and meet, from reads alone")
    .requiredOption("--kubeconfig <file>", "the cluster's kubeconfig; reading rights are enough")
    .requiredOption("--to <version>", "the Kubernetes version to reach, e.g. 1.36.3")
    .option("--context <name>", "a context of the kubeconfig; its current one without it")
    .option(
      "--via <version...>",
      "versions to stop at between minors, instead of the latest known patches",
      [],
    )
    .option(
      "--max-unavailable <number>",
      "how many workers of a pool may be away at once, or a part: 25%",
      "1",
    )
    .option("--force", "count pods without a controller as losses, not as blockers", false)
    .option("--delete-emptydir-data", "count the data in emptyDir volumes as lost, not as blockers", false)
    .option("--json", "print it for programs", false)
    .option("--markdown", "print it for a pull request", false)
    // exit code 2 means that something blocks the rollout
    .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 1))
    .addHelpText(
      "after",
      "\nExits with 0 without blockers, 2 with blockers, 3 if that is unknown because a permission is missing, 1 on an error.",
    )
    .action(running<PlanOptions>(async () => (await import("./plan.js")).plan));
}

interface ReportOptions {
  readonly json?: true;
  readonly markdown?: true;
  readonly stack?: string;
}

/** Adds the commands preview, up and report: only what was reviewed runs. */
function addReviewCommands(program: Command): void {
  program
    .command("preview")
    .description("show every step that an up would take, and keep it for review; changes nothing")
    .option(...STACK)
    .option("--save-plan <file>", "write the plan for `foresail up --plan` (0600; its secrets are encrypted)")
    .option("--json <file>", "write the engine's output for `foresail report` (0600; its secrets are masked)")
    .addHelpText("after", "\nExit codes: 0 previewed, 1 refused or failed, 2 wrong use.")
    .action(running<PreviewOptions>(async () => (await import("./preview.js")).preview));
  program
    .command("up")
    .description("do what was reviewed, and nothing else")
    .option(...STACK)
    .option(
      "--plan <file>",
      "a plan of `foresail preview --save-plan`; without it, the preview is shown and asked about",
    )
    .option("--yes", "without a plan: do not ask", false)
    .addHelpText(
      "after",
      `
With --plan only what the plan holds runs. After a run that was killed, the same command does the rest of it.
Ctrl-C finishes the current node of a rollout and pauses; a second Ctrl-C interrupts the engine.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 refused: the cluster is no longer as reviewed, nothing was touched,
4 paused: run the same command to continue.`,
    )
    .action(running<UpOptions>(async () => (await import("./up.js")).up));
  program
    .command("report")
    .description("print a preview for a pull request's comment, or for programs")
    .argument(
      "<preview>",
      "what `foresail preview --json` or `pulumi preview --json` wrote; - for standard input",
    )
    .addOption(
      new Option("--markdown", "a comment for GitHub: dangers first, then the steps").conflicts("json"),
    )
    .addOption(new Option("--json", "the same as data").conflicts("markdown"))
    .option("--stack <name>", "the stack, for a preview that failed before the engine named it")
    .action(async (file: string, { json, markdown, stack }: ReportOptions) => {
      if (json === undefined && markdown === undefined) program.error("error: give --markdown or --json");
      const { report } = await import("./preview.js");
      await report({
        file,
        form: json === true ? "json" : "markdown",
        ...(stack !== undefined && { stack }),
      });
    });
}

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
    .action(running<UnlockOptions>(async () => (await import("./unlock.js")).unlock));
  addPlanCommand(program);
  addReviewCommands(program);
  addMonitorCommand(program);
  await program.parseAsync();
}

main().catch((error: unknown) => {
  printError(`foresail: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
