import pc from "picocolors";
import { code } from "../../lib/text/markdown";
import { displayLine } from "../../lib/text/display";
import type { Distribution } from "./distributions";
import type { Finding } from "./findings";
import type { PlanReport } from "./report";
import { mapTexts } from "../../lib/json";
import { plural } from "../../lib/text/plural";

/**
 * Renders the forecast for a terminal: blockers first, then the steps.
 *
 * @param colors those of picocolors; default: none
 */
export function renderForecast(read: PlanReport, colors = pc.createColors(false)): string {
  const { bold, red, yellow, green, dim } = colors;
  const report = mapTexts(read, displayLine);
  const { blocking, warning } = sorted(report);
  const section = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? ["", bold(title), ...lines] : [];
  const found = (findings: readonly Finding[], mark: string) =>
    findings.flatMap(({ words, fix }) => [`  ${mark} ${words}`, dim(`    → ${fix}`)]);
  const steps = report.steps.flatMap(({ pass, to, line }, index, all) => {
    const title = report.passes.length > 1 && all[index - 1]?.pass !== pass;
    const number = String(index + 1).padStart(String(all.length).length);
    return [...(title ? [dim(`  pass ${pass}, to ${to}`)] : []), `  ${number}. ${line}`];
  });
  const head = [
    bold(`Rollout of ${report.server} to ${report.target}`),
    dim(`${plural(report.nodes.length, "node")}: ${versionsOf(report)}`),
  ];
  if (report.distribution) {
    const { title, evidence, next } = otherDistribution(report.distribution);
    return `${[...head, "", red(`${title}: ${evidence}.`), dim(`  → ${next}`)].join("\n")}\n`;
  }
  const unread = plural(report.unknown.length, "check");
  const lines = [
    ...head,
    ...section(plural(blocking.length, "blocker"), found(blocking, red("✗"))),
    ...section(plural(warning.length, "warning"), found(warning, yellow("!"))),
    ...section(
      `${report.unknown.length} unknown`,
      report.unknown.map((words) => `  ${yellow("?")} ${words}`),
    ),
    "",
    bold(titleOfSteps(report)),
    ...steps,
    ...section(
      "Notes",
      report.notes.map((note) => `  - ${note}`),
    ),
    "",
    report.blocked
      ? red(
          `Blocked by ${plural(blocking.length, "issue")}. Fix ${blocking.length === 1 ? "it" : "them"}, then run the plan again.`,
        )
      : report.unknown.length > 0
        ? yellow(
            `Unknown: ${unread} could not be made. Give the credentials these rights, then run the plan again.`,
          )
        : green(report.steps.length === 0 ? "Clean." : "Clean: nothing blocks this rollout."),
  ];
  return `${lines.join("\n")}\n`;
}

const sorted = ({ findings }: PlanReport) => ({
  blocking: findings.filter(({ weight }) => weight === "blocks"),
  warning: findings.filter(({ weight }) => weight === "warns"),
});

/** "5 steps, by way of 1.35.4" */
function titleOfSteps({ steps, passes, blocked }: PlanReport): string {
  if (steps.length === 0)
    return blocked ? "No step can be listed" : "Nothing to do: every node has this version";
  const between = passes.slice(0, -1);
  return `${plural(steps.length, "step")}${between.length > 0 ? `, by way of ${between.join(", ")}` : ""}`;
}

/** "1.35.4 on 3, 1.36.3 on 2" */
function versionsOf({ nodes }: PlanReport): string {
  const counts = new Map<string, number>();
  for (const { kubeletVersion } of nodes) counts.set(kubeletVersion, (counts.get(kubeletVersion) ?? 0) + 1);
  return [...counts].map(([version, count]) => `${version} on ${count}`).join(", ");
}

/** Returns the sentences about a cluster that was not made with kubeadm. */
function otherDistribution({ name, evidence, upgrade }: Distribution) {
  return {
    title: name === undefined ? "Not a kubeadm cluster" : `Not a kubeadm cluster but ${name}`,
    evidence,
    next: `foresail plan forecasts kubeadm clusters only; upgrade this one with ${upgrade}`,
  };
}

/** Renders the forecast for a pull request or a wiki. */
export function renderForecastMarkdown(report: PlanReport): string {
  const { blocking, warning } = sorted(report);
  const unknown = report.unknown.length > 0 ? `**Unknown**: ${report.unknown.length} not checked` : undefined;
  const verdict = report.blocked ? `**Blocked** by ${blocking.length}` : (unknown ?? "**Clean**");
  const where = `${code(report.server)}, ${plural(report.nodes.length, "node")}: ${code(versionsOf(report))}.`;
  if (report.distribution) {
    const { title, evidence, next } = otherDistribution(report.distribution);
    return `## Rollout to ${report.target}\n\n**${title}**: ${code(evidence)}. ${where}\n\n${next}.\n`;
  }
  const lines = [
    `## Rollout to ${report.target}`,
    "",
    `${verdict}. ${where}`,
    ...table("Blockers", blocking),
    ...table("Warnings", warning),
    ...list("Unknown", report.unknown),
    "",
    `### ${titleOfSteps(report)}`,
    "",
    ...report.steps.map(({ line }, index) => `${index + 1}. ${code(line)}`),
    ...list("Notes", report.notes),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function list(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : ["", `### ${title}`, "", ...entries.map((entry) => `- ${code(entry)}`)];
}

function table(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  const rows = findings.map(({ about, words, fix }) => `| ${about} | ${code(words)} | ${fix} |`);
  return ["", `### ${title}`, "", "| what | found | to do |", "| --- | --- | --- |", ...rows];
}
