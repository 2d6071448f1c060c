import type { Span } from "./spans";

const LABEL_COLUMNS = 38;
const BAR_COLUMNS = 72;
/** Shorter spans are a dot in the chart and say nothing about where the time goes. */
const SHORTEST_SECONDS = 0.1;

/** Rows of the chart, group by group, in the order in which the work began. */
function chartRows(spans: readonly Span[]): { group: string; spans: Span[] }[] {
  const groups = new Map<string, Span[]>();
  for (const span of spans) {
    if (span.to - span.from < SHORTEST_SECONDS) continue;
    groups.set(span.group, [...(groups.get(span.group) ?? []), span]);
  }
  return [...groups].map(([group, members]) => ({
    group,
    spans: members.sort((one, other) => one.from - other.from || other.to - one.to),
  }));
}

/** Returns a Gantt chart as text. @param end seconds that the whole width stands for */
export function chartText(spans: readonly Span[], end: number): string {
  const column = (seconds: number) => Math.round((seconds / end) * BAR_COLUMNS);
  const lines = chartRows(spans).flatMap((row) => [
    row.group,
    ...row.spans.map(({ label, from, to }) => {
      const bar = "█".repeat(Math.max(1, column(to) - column(from)));
      const words = `  ${label}`.slice(0, LABEL_COLUMNS - 1).padEnd(LABEL_COLUMNS);
      return `${words}${" ".repeat(column(from))}${bar} ${(to - from).toFixed(1)} s`;
    }),
  ]);
  return lines.join("\n");
}

const WIDTH = 960;
const LABEL_WIDTH = 300;
const ROW_HEIGHT = 18;
const TOP = 44;
const RIGHT = 56;

/**
 * Returns a Gantt chart as an SVG image for light and dark pages.
 *
 * @param title what was measured
 * @param end seconds that the whole width stands for
 */
export function chartSvg(title: string, spans: readonly Span[], end: number): string {
  const x = (seconds: number) => LABEL_WIDTH + (seconds / end) * (WIDTH - LABEL_WIDTH - RIGHT);
  const parts: string[] = [];
  let y = TOP;
  for (const { group, spans: members } of chartRows(spans)) {
    parts.push(`<text class="group" x="12" y="${y + 13}">${escaped(group)}</text>`);
    y += ROW_HEIGHT;
    for (const { label, from, to } of members) {
      const width = Math.max(1, x(to) - x(from)).toFixed(1);
      parts.push(
        `<text x="24" y="${y + 13}">${escaped(label)}</text>`,
        `<rect class="bar" x="${x(from).toFixed(1)}" y="${y + 3}" width="${width}" height="${ROW_HEIGHT - 6}" rx="2"/>`,
        `<text class="soft" x="${(x(to) + 4).toFixed(1)}" y="${y + 13}">${(to - from).toFixed(1)} s</text>`,
      );
      y += ROW_HEIGHT;
    }
  }
  const height = y + 12;
  const grid = gridSeconds(end).map(
    (seconds) =>
      `<line x1="${x(seconds)}" x2="${x(seconds)}" y1="${TOP - 4}" y2="${height - 8}"/>` +
      `<text class="soft" x="${x(seconds) + 3}" y="${TOP - 6}">${seconds} s</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>
.page { fill: #ffffff } text { fill: #1f2328; font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif } line { stroke: #d0d7de }
.group, .head { font-weight: 600 } .soft { fill: #59636e } .bar { fill: #0969da }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } text { fill: #f0f6fc } line { stroke: #3d444d } .soft { fill: #9198a1 } .bar { fill: #4493f8 }
}
</style>
<rect class="page" width="${WIDTH}" height="${height}" rx="8"/>
<text class="head" x="12" y="20">${escaped(title)}</text>
${[...grid, ...parts].join("\n")}
</svg>
`;
}

/** Returns about six round numbers of seconds. */
function gridSeconds(end: number): number[] {
  const step = [1, 2, 5, 10, 20, 30, 60, 120].find((seconds) => end / seconds <= 7) ?? 300;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
