import type { ValidationIssue } from "./validation-issue";
import { lineIssue, pattern } from "./names";
import { quoted } from "../text/quote";

/** Returns the issue of a Helm chart's version (semantic version, optional "v"), or undefined. */
export const chartVersionIssue = pattern(
  /^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
  'the version of a chart; write it exactly, e.g. "1.18.2"',
);

/** Returns the issue of the digest of a chart's archive or of a file, or undefined. */
export const digestIssue = pattern(
  /^sha256:[0-9a-f]{64}$/,
  'a digest; write "sha256:" and 64 lower-case hexadecimal digits, as `sha256sum` prints them',
);

/** Returns the issue of a chart's name, path or oci:// reference, or undefined. Helm receives it as an argument. */
export function chartNameIssue(text: string): string | undefined {
  if (text.startsWith("-"))
    return `${quoted(text)} begins with a dash; write the name of a chart, e.g. "cilium"`;
  return lineIssue(text);
}

/** Returns the issues of a chart's source: a name needs a repository; a path or oci:// reference has none. */
export function chartIssues(source: {
  chart: string;
  repository?: string;
  digest?: string;
}): ValidationIssue[] {
  const { chart, repository, digest } = source;
  const isComplete = chart.startsWith("oci://") || /^\.{0,2}\//.test(chart);
  if (isComplete && digest !== undefined)
    return [{ path: ["digest"], message: "belongs to a chart of a repository; remove it" }];
  if (isComplete === !repository) return [];
  const message = isComplete
    ? `belongs to a chart's name; remove it, ${quoted(chart)} says where the chart is`
    : `is missing; write the URL of the repository that has ${quoted(chart)}`;
  return [{ path: ["repository"], message }];
}
