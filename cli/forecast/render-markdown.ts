import type { Finding } from "./finding";
import { titleOfSteps, versionsOf } from "./render-text";
import type { PlanReport } from "./report";

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
    ...table("In the way", blocking),
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
  const rows = findings.map(
    ({ about, words, mend: fix }) => `| ${about} | ${escape(words)} | ${escape(fix)} |`,
  );
  return ["", `### ${title}`, "", "| what | found | to do |", "| --- | --- | --- |", ...rows];
}

/** Escapes names from the cluster, so that none ends a cell or begins a tag. */
function escape(text: string): string {
  return text.replace(/[\\|<>*_[\]]/g, (sign) => `\\${sign}`).replace(/\s+/g, " ");
}
