import { type Command, Option } from "commander";
import type { PreviewOptions } from "./preview";
import type { UpOptions } from "./up";

const STACK = ["--stack <name>", "the stack; default: the one that is selected"] as const;

interface ReportOptions {
  readonly json?: true;
  readonly markdown?: true;
  readonly stack?: string;
}

/** Adds the commands preview, up and report: only what was reviewed runs. */
export function addReviewCommands(program: Command): void {
  program
    .command("preview")
    .description("show every step that an up would take, and keep it for review; changes nothing")
    .option(...STACK)
    .option("--save-plan <file>", "write the plan for `foresail up --plan` (0600; its secrets are encrypted)")
    .option("--json <file>", "write the engine's output for `foresail report` (0600; its secrets are masked)")
    .addHelpText("after", "\nExit codes: 0 previewed, 1 refused or failed, 2 wrong use.")
    .action(async (options: PreviewOptions) => {
      const { preview } = await import("./preview.js");
      process.exitCode = await preview(options);
    });
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
4 paused: the same command goes on.`,
    )
    .action(async (options: UpOptions) => {
      const { up } = await import("./up.js");
      process.exitCode = await up(options);
    });
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
      const { report } = await import("./report.js");
      await report({
        file,
        form: json === true ? "json" : "markdown",
        ...(stack !== undefined && { stack }),
      });
    });
}
