import { type Command, Option } from "commander";
import { messageOf } from "../../lib/error-message";
import { fileFault } from "../../lib/files";
import { foresailVersion } from "../../lib/version";
import { UsageError } from "./exit-codes";
import { COLOR_VARIABLE, setQuiet } from "./terminal";

/** What every command takes. */
export interface GlobalOptions {
  readonly directory?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color: "auto" | "always" | "never";
}

/** Adds the options of every command, and applies them before a command begins. */
export function addGlobalOptions(program: Command): void {
  program
    .version(foresailVersion(), "-V, --version", "print the version")
    .option("-C, --directory <folder>", "run as if it was started in this folder")
    .option("--quiet", "show the engine's output only when it fails")
    .option("--verbose", "show where an error comes from")
    .addOption(
      new Option("--color <when>", "colors; auto: on a terminal, unless NO_COLOR is set")
        .choices(["auto", "always", "never"])
        .default("auto"),
    )
    .hook("preAction", () => apply(program.opts<GlobalOptions>()));
}

function apply({ directory, quiet = false, verbose = false, color }: GlobalOptions): void {
  if (directory !== undefined)
    try {
      process.chdir(directory);
    } catch (error) {
      throw new UsageError(`-C ${directory}: ${fileFault(error) ?? messageOf(error)}`);
    }
  // processes that a command starts follow the same variables
  if (color !== "auto") {
    delete process.env["NO_COLOR"];
    process.env[color === "never" ? "NO_COLOR" : COLOR_VARIABLE] = "always";
  }
  setQuiet(quiet);
  isVerbose = verbose;
}

let isVerbose = false;

/** Returns an error as the command line shows it: with --verbose where it comes from, and what caused it. */
export function describeError(error: unknown): string {
  if (!isVerbose) return messageOf(error);
  const causes: string[] = [];
  for (let each = error; each !== undefined && causes.length < 10; each = (each as Error).cause)
    causes.push(each instanceof Error ? (each.stack ?? each.message) : messageOf(each));
  return causes.join("\ncaused by: ");
}
