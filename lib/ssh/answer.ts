/**
 * Where the answer of a step begins on its standard output. What a machine's login shell prints comes before it: a
 * greeting in `.bashrc`, a warning of a module, the words of a forced command.
 */
export const answerMarker = (operation: string, machine: string): string =>
  `# foresail: answer of ${operation} ${machine}`;

/** Returns the shell command that prints a marker, on a line of its own whatever was printed before. */
export const printMarker = (marker: string): string => `builtin printf '\\n%s\\n' '${marker}'`;

/** What a command printed on its standard output. */
export interface SplitOutput {
  /** Printed before the marker, so never by the step itself. */
  greeting: string;
  /** Undefined when the step did not begin. */
  answer?: string;
}

/** Splits the standard output of a step at its marker; without a marker all of it is the answer. */
export function splitAnswer(stdout: string, marker: string | undefined): SplitOutput {
  if (marker === undefined) return { greeting: "", answer: stdout };
  const line = `\n${marker}\n`;
  const at = stdout.indexOf(line);
  if (at < 0) return { greeting: stdout };
  return { greeting: stdout.slice(0, at), answer: stdout.slice(at + line.length) };
}
