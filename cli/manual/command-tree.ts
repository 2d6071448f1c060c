import type { Command } from "commander";

/** An option of a command, as its help shows it. */
export interface OptionFacts {
  /** "--output" */
  readonly long: string;
  /** "-C" */
  readonly short?: string;
  /** "--output <form>" */
  readonly flags: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** A command of foresail. */
export interface CommandFacts {
  /** "fleet up"; "" for the program */
  readonly path: string;
  readonly description: string;
  /** "<folder>" */
  readonly operands: readonly string[];
  readonly options: readonly OptionFacts[];
  /** What its help says after the options. */
  readonly notes: string;
}

/** Returns a command and all commands below it, hidden ones left out. */
export function commandFacts(command: Command, parents: readonly string[] = []): CommandFacts[] {
  const help = command.createHelp();
  const own: CommandFacts = {
    path: parents.join(" "),
    description: command.description(),
    operands: command.registeredArguments.map((operand) =>
      operand.required ? `<${operand.name()}>` : `[${operand.name()}]`,
    ),
    options: help.visibleOptions(command).map((option) => ({
      long: option.long ?? "",
      ...(option.short !== undefined && { short: option.short }),
      flags: option.flags,
      description: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    notes: notesOf(command),
  };
  const below = help.visibleCommands(command).filter((each) => each.name() !== "help");
  return [own, ...below.flatMap((each) => commandFacts(each, [...parents, each.name()]))];
}

/** Returns what a command's help says after its options and subcommands. */
function notesOf(command: Command): string {
  const texts: string[] = [];
  command.configureOutput({ writeOut: (text) => void texts.push(text) });
  command.outputHelp();
  const own = command.helpInformation();
  return texts.join("").replace(own, "").trim();
}
