import { type Command, Option } from "commander";
import { type CommandName, exitCodesHelp } from "./exit-codes";

/** Adds a command, whose help ends with notes and the exit codes that it has. */
export function addCommand(program: Command, name: CommandName, notes = ""): Command {
  return program.command(name).addHelpText("after", () => notes + exitCodesHelp(name));
}

/** The option for the stack of a command. */
export const STACK = ["--stack <name>", "the stack; default: the one that is selected"] as const;

/** Returns an action that runs a command, whose module is loaded for it alone, and sets its exit code. */
export function running<Options>(load: () => Promise<(options: Options) => Promise<number>>) {
  return async (options: Options): Promise<void> => {
    const command = await load();
    process.exitCode = await command(options);
  };
}

/** Returns the option for the form of a result that is text or data, such as a report about drift. */
export const driftOutput = () =>
  new Option("--output <form>", "for a terminal (text) or for programs")
    .choices(["text", "json"])
    .default("text");

/** How a command prints its result; `--json` and `--markdown` are short for the same values of `--output`. */
export interface OutputOptions<Form extends string> {
  readonly output?: Form;
  readonly json?: true;
  readonly markdown?: true;
}

/** Adds the options for the form of a command's result. */
export function addOutputOptions(command: Command, purpose: string, forms: readonly string[]): Command {
  const short = (name: string, other: string) =>
    new Option(`--${name}`, `the same as --output ${name}`).conflicts([other, "output"]);
  return command
    .addOption(new Option("--output <form>", purpose).choices(forms))
    .addOption(short("json", "markdown"))
    .addOption(short("markdown", "json"));
}

/** Returns the form that a command line asks for. */
export function outputOf<Form extends string>(
  options: OutputOptions<Form>,
): Form | "json" | "markdown" | undefined {
  return options.json ? "json" : options.markdown ? "markdown" : options.output;
}
