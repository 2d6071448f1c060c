import type { CommandFacts } from "./command-tree";

/** What the page says besides the commands. */
export interface ManPageContext {
  readonly version: string;
  /** code and meaning of every exit code */
  readonly exitCodes: readonly (readonly [number, string])[];
  /** variable and meaning */
  readonly environment: readonly (readonly [string, string])[];
}

/** Returns text as roff shows it: a leading dot is not a request, and a dash can be copied. */
const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(['.])/gm, "\\&$1");

const item = (title: string, text: string): string => `.TP\n\\fB${roff(title)}\\fR\n${roff(text)}`;

/** Returns the manual page of foresail in roff, for man(1). */
export function manPage(commands: readonly CommandFacts[], context: ManPageContext): string {
  const [program, ...others] = commands;
  const sections = others
    .filter(({ options, operands, path }) => !isGroup(path, others) || options.length + operands.length > 1)
    .map(commandSection);
  return [
    `.TH FORESAIL 1 "" "foresail ${context.version}"`,
    `.SH NAME\nforesail \\- ${roff(program?.description ?? "")}`,
    ".SH SYNOPSIS\n.B foresail\n[options] command [options]",
    `.SH OPTIONS\n${(program?.options ?? []).map(({ flags, description }) => item(flags, description)).join("\n")}`,
    `.SH COMMANDS\n${sections.join("\n")}`,
    `.SH EXIT STATUS\n${context.exitCodes.map(([code, meaning]) => item(String(code), meaning)).join("\n")}`,
    `.SH ENVIRONMENT\n${context.environment.map(([name, meaning]) => item(name, meaning)).join("\n")}`,
    ".SH SEE ALSO\n.BR pulumi (1),\n.BR kubectl (1)",
    "",
  ].join("\n");
}

/** Tells whether a command only has others below it. */
const isGroup = (path: string, commands: readonly CommandFacts[]): boolean =>
  commands.some((each) => each.path.startsWith(`${path} `));

function commandSection({ path, description, operands, options, notes }: CommandFacts): string {
  const before = notes.split("Exit codes:")[0]?.trim() ?? "";
  return [
    `.SS foresail ${roff([path, ...operands].join(" "))}`,
    roff(description),
    ...(before === "" ? [] : [`.PP\n${roff(before)}`]),
    ...options.filter(({ long }) => long !== "--help").map((each) => item(each.flags, each.description)),
  ].join("\n");
}
