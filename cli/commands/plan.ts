import { renderForecastMarkdown, renderForecast } from "../forecast/render";
import { planReport, type PlanReport } from "../forecast/report";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { displayJson } from "../../lib/text/display";
import { parseVersion } from "../../providers/kubeadm/plan/rollout/versions";
import { readForecastFacts } from "../forecast/facts";
import { chooseContext, findKubeconfig } from "../forecast/kubeconfig";
import { colorsOf } from "../terminal/terminal";
import { messageOf } from "../../lib/error-message";

export type PlanOutput = "text" | "json" | "markdown";

export interface PlanOptions {
  /** default: as kubectl finds it */
  readonly kubeconfig?: string;
  readonly to: string;
  readonly context?: string;
  readonly via: readonly string[];
  readonly maxUnavailable: string;
  readonly force: boolean;
  readonly deleteEmptydirData: boolean;
  readonly output: PlanOutput;
}

const SECONDS = 15;

/**
 * Forecasts the rollout of any kubeadm cluster with read access alone.
 *
 * @returns the exit code
 * @throws Error that names the file or the address, and what to do
 */
export async function plan(
  options: PlanOptions,
  write = (text: string) => void process.stdout.write(text),
): Promise<number> {
  const target = version(options.to, "--to");
  const desired = {
    target,
    allow: { force: options.force, deleteEmptyDirData: options.deleteEmptydirData },
    maxUnavailable: maximum(options.maxUnavailable),
    intermediates: options.via.map((text) => version(text, "--via")),
    now: new Date(),
  };
  const file = findKubeconfig(options.kubeconfig, options.context);
  const chosen = chooseContext(file, options.context);
  const facts = await readForecastFacts(chosen, SECONDS).catch((error: unknown) => {
    const words = messageOf(error);
    throw new Error(`${file} (context ${chosen.context}): ${words}`, { cause: error });
  });
  const report = planReport(facts, desired);
  write(render(report, options));
  if (report.distribution) return EXIT.otherDistribution;
  if (report.blocked) return EXIT.blocked;
  return report.unknown.length > 0 ? EXIT.unknown : EXIT.done;
}

function render(report: PlanReport, { output }: PlanOptions): string {
  if (output === "json") return `${displayJson(report)}\n`;
  return output === "markdown"
    ? renderForecastMarkdown(report)
    : renderForecast(report, colorsOf(process.stdout));
}

function version(text: string, option: string): string {
  const bare = text.replace(/^v/, "");
  if (parseVersion(bare)) return bare;
  throw new UsageError(`${option} ${text}: it has to be MAJOR.MINOR.PATCH, e.g. 1.36.3`);
}

function maximum(text: string): number | `${number}%` {
  const match = /^(\d{1,4})(%?)$/.exec(text);
  if (!match)
    throw new UsageError(`--max-unavailable ${text}: it has to be a number such as 2, or a part such as 25%`);
  return match[2] ? `${Number(match[1])}%` : Number(match[1]);
}
