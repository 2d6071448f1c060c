import type { Span } from "../plan/timeline";
import { html, type Html } from "./html";

/**
 * Returns the timeline of a run in which nothing fails.
 *
 * @param isEstimated whether the lengths come from earlier runs; otherwise only the order is shown
 */
export function timeline(
  spans: readonly Span[],
  isEstimated: boolean,
  idOf: ReadonlyMap<string, number>,
): Html {
  const end = Math.max(1, ...spans.map(({ to }) => to));
  const shown = [...spans].sort((one, other) => one.from - other.from || one.to - other.to);
  const words = isEstimated
    ? `By earlier runs this takes about ${lengthWords(end)}, if nothing fails. Windows and approvals are not counted.`
    : "There were no earlier runs to estimate from: this is the order, and every stack has the same length.";
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <p class="soft">${words}</p>
    <div class="scroll" role="region" aria-labelledby="timeline" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">what</th>
            ${
              isEstimated
                ? html`<th scope="col">from</th>
                    <th scope="col">to</th>`
                : undefined
            }
            <th scope="col">when</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((span) => row(span, end, isEstimated, idOf))}
        </tbody>
      </table>
    </div>
  </section> `;
}

function row(span: Span, end: number, isEstimated: boolean, idOf: ReadonlyMap<string, number>): Html {
  const { kind, name, from, to } = span;
  const id = idOf.get(name);
  const percent = (value: number) => Math.round((value / end) * 1000) / 10;
  const title =
    kind === "stack"
      ? html`<a href="#stack-${id}">${name}</a>`
      : html`<span class="soft">gate of ${name}</span>`;
  const of = kind === "stack" ? html` data-stack="${id}"` : html` class="gate"`;
  const width = Math.max(0.5, percent(to - from));
  return html`<tr${of}>
    <th scope="row">${title}</th>
    ${
      isEstimated
        ? html`<td>${clockOf(from)}</td>
            <td>${clockOf(to)}</td>`
        : undefined
    }
    <td class="bars"><svg aria-hidden="true"><rect x="${percent(from)}%" y="15%" width="${width}%" height="70%" rx="3"></rect></svg></td>
  </tr> `;
}

/** Returns minutes and seconds: "4:05". */
const clockOf = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`;

const lengthWords = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`;
