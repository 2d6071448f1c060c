import { printable, quoted, shortened } from "../text/quote";

/** Path of a value in the configuration: object keys and list indexes. */
export type ConfigurationPath = readonly (string | number)[];

/** A validation issue: what is wrong and the fix, in its message. */
export interface ValidationIssue {
  path: ConfigurationPath;
  message: string;
}

/** Writes a path as a person would: `cluster.machines[2].role`, `cluster.registries.mirrors["docker.io"]`. */
export function formatPath(path: ConfigurationPath): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(part) || part.length > 80) return `[${quoted(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}

/** Most issues that are listed at once: whoever wrote 500 wrong lines made few mistakes. */
const MOST_ISSUES = 20;
/** Most characters of a path and of a message. */
const LONGEST_PATH = 400;
const LONGEST_MESSAGE = 1200;

/** One line for each validation issue: at most twenty, each with its path, all characters printable; then how many more there are. */
export function issueLines(issues: readonly ValidationIssue[]): string[] {
  const lines = issues.map(
    ({ path, message }) =>
      `${shortened(formatPath(path), LONGEST_PATH)}: ${printable(shortened(message, LONGEST_MESSAGE))}`,
  );
  const different = [...new Set(lines)];
  const more = different.length - MOST_ISSUES;
  return more > 0 ? [...different.slice(0, MOST_ISSUES), `and ${more} more`] : different;
}

/** "1 validation issue", "3 validation issues": as many as {@link issueLines} counts. */
export function issueCount(issues: readonly ValidationIssue[]): string {
  const count = new Set(issues.map(({ path, message }) => JSON.stringify([path, message]))).size;
  return count === 1 ? "1 validation issue" : `${count} validation issues`;
}
