import type { Finding } from "./findings";
import type { PlanReport } from "./report";
import { plural } from "../../lib/text/plural";

/** Functions that color text; each returns its text unchanged where there are no colors. */
interface Colours {
  bold: (text: string) => string;
  red: (text: string) => string;
  yellow: (text: string) => string;
  green: (text: string) => string;
  dim: (text: string) => string;
}

const same = (text: string) => text;
const NO_COLOURS: Colours = { bold: same, red: same, yellow: same, green: same, dim: same };

/** Renders the forecast for a terminal: blockers first, then the steps. */
export function renderText(report: PlanReport, colours: Colours = NO_COLOURS): string {
  const { bold, red, yellow, green, dim } = colours;
  const blocking = report.findings.filter(({ weight }) => weight === "blocks");
  const warning = report.findings.filter(({ weight }) => weight === "warns");
  const lines = [
    bold(`Rollout of ${report.server} to ${report.target}`),
    dim(`${plural(report.nodes.length, "node")}: ${versionsOf(report)}`),
    ...section(bold(plural(blocking.length, "blocker")), blocking, (line) => `  ${red("✗")} ${line}`, dim),
    ...section(bold(plural(warning.length, "warning")), warning, (line) => `  ${yellow("!")} ${line}`, dim),
    ...(report.unknown.length > 0
      ? [
          "",
          bold(`${report.unknown.length} unknown`),
          ...report.unknown.map((words) => `  ${yellow("?")} ${words}`),
        ]
      : []),
    "",
    bold(titleOfSteps(report)),
    ...stepLines(report, dim),
    ...(report.notes.length > 0 ? ["", bold("Notes"), ...report.notes.map((note) => `  - ${note}`)] : []),
    "",
    verdict(report, blocking.length, { red, yellow, green }),
  ];
  return `${lines.join("\n")}\n`;
}

function section(
  title: string,
  findings: readonly Finding[],
  mark: (line: string) => string,
  dim: Colours["dim"],
): string[] {
  if (findings.length === 0) return [];
  return ["", title, ...findings.flatMap(({ words, fix }) => [mark(words), dim(`    → ${fix}`)])];
}

function stepLines({ steps, passes }: PlanReport, dim: Colours["dim"]): string[] {
  return steps.flatMap((step, index) => {
    const first = index === 0 || steps[index - 1]?.pass !== step.pass;
    const title = passes.length > 1 && first ? [dim(`  pass ${step.pass}, to ${step.to}`)] : [];
    return [...title, `  ${String(index + 1).padStart(String(steps.length).length)}. ${step.line}`];
  });
}

/** "5 steps, by way of 1.35.4" */
function titleOfSteps({ steps, passes, blocked }: PlanReport): string {
  if (steps.length === 0)
    return blocked ? "No step can be listed" : "Nothing to do: every node has this version";
  const between = passes.slice(0, -1);
  return `${plural(steps.length, "step")}${between.length > 0 ? `, by way of ${between.join(", ")}` : ""}`;
}

/** "1.35.4 on 3, 1.36.3 on 2" */
export function versionsOf({ nodes }: PlanReport): string {
  const versions = [...new Set(nodes.map(({ kubeletVersion }) => kubeletVersion))];
  return versions
    .map(
      (version) => `${version} on ${nodes.filter(({ kubeletVersion }) => kubeletVersion === version).length}`,
    )
    .join(", ");
}

function verdict(
  report: PlanReport,
  blocking: number,
  { red, yellow, green }: Pick<Colours, "red" | "yellow" | "green">,
): string {
  if (blocking > 0)
    return red(
      `Blocked by ${plural(blocking, "issue")}. Fix ${blocking === 1 ? "it" : "them"}, then run the plan again.`,
    );
  if (report.unknown.length > 0)
    return yellow(
      `Unknown: ${plural(report.unknown.length, "check")} could not be made. Give the credentials these rights, then run the plan again.`,
    );
  return green(report.steps.length === 0 ? "Clean." : "Clean: nothing blocks this rollout.");
}

/** Renders the forecast for a pull request or a wiki. */
export function renderMarkdown(report: PlanReport): string {
  const blocking = report.findings.filter(({ weight }) => weight === "blocks");
  const warning = report.findings.filter(({ weight }) => weight === "warns");
  const unknown = report.unknown.length > 0 ? `**Unknown**: ${report.unknown.length} not checked` : undefined;
  const verdict = report.blocked ? `**Blocked** by ${blocking.length}` : (unknown ?? "**Clean**");
  const lines = [
    `## Rollout to ${report.target}`,
    "",
    `${verdict}. ${escape(report.server)}, ${report.nodes.length} nodes: ${versionsOf(report)}.`,
    ...table("Blockers", blocking),
    ...table("To know of", warning),
    ...list("Unknown", report.unknown),
    "",
    `### ${titleOfSteps(report)}`,
    "",
    ...report.steps.map(({ line }, index) => `${index + 1}. ${escape(line)}`),
    ...list("Notes", report.notes),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function list(title: string, entries: readonly string[]): string[] {
  return entries.length === 0
    ? []
    : ["", `### ${title}`, "", ...entries.map((entry) => `- ${escape(entry)}`)];
}

function table(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  const rows = findings.map(({ about, words, fix }) => `| ${about} | ${escape(words)} | ${escape(fix)} |`);
  return ["", `### ${title}`, "", "| what | found | to do |", "| --- | --- | --- |", ...rows];
}

/** Escapes names from the cluster, so that none ends a cell or begins a tag. */
function escape(text: string): string {
  return text.replace(/[\\|<>*_[\]]/g, (sign) => `\\${sign}`).replace(/\s+/g, " ");
}
