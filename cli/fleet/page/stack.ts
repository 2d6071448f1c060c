import { plural } from "../../../lib/text/plural";
import { changeWords, type StackReview, versionWords } from "../plan/review";
import { html, type Html } from "./html";

type Machine = StackReview["machines"][number];

/** Returns the section of a stack: its cluster by zone, its steps, and the diff of files on its nodes. */
export function stackSection(name: string, id: number, stack: StackReview | undefined): Html {
  return html`<section class="stack" id="stack-${id}" data-stack="${id}" aria-labelledby="stack-${id}-name">
    <details>
      <summary id="stack-${id}-name">${name}: ${changeWords(stack)}</summary>
      ${stack === undefined ? undefined : parts(stack)}
    </details>
  </section> `;
}

function parts(stack: StackReview): Html[] {
  const { system, plan, unchanged, errors, notes, changes, diffs } = stack;
  const facts = [system, versionWords(stack), `${plural(unchanged, "resource")} unchanged`];
  return [
    html`<p class="soft">${facts.filter((fact) => fact !== "").join(", ")}</p>`,
    ...(plan === undefined ? [] : [html`<p class="soft">Plan (SHA-256): <code>${plan}</code></p>`]),
    ...(errors.length > 0 ? [html`<h3>What was refused</h3>`, lines(errors)] : []),
    ...dangers(stack),
    ...cluster(stack),
    ...(changes.length > 0 ? [html`<h3>Steps by resource</h3>`, ...changes.map(change)] : []),
    ...diffs.map(
      ({ nodes, lines }) =>
        html`<h3>Files of ${nodes}</h3>
          <pre>${lines.map(diffLine)}</pre>`,
    ),
    ...(notes.length > 0 ? [html`<h3>Remarks</h3>`, lines(notes)] : []),
  ];
}

const lines = (texts: readonly string[]): Html =>
  html`<pre>${texts.map((text) => html`<span class="line">${text}</span>`)}</pre>`;

function dangers({ dangers }: StackReview): Html[] {
  if (dangers.length === 0) return [];
  const list = dangers.map(
    ({ kind, words }) => html`<li><strong>${kind}</strong>: <code>${words}</code></li>`,
  );
  return [
    html`<h3>Review first</h3>
      <ul class="dangers">
        ${list}
      </ul>`,
  ];
}

function change({ type, name, operation, steps }: StackReview["changes"][number]): Html {
  const title = html`<p><code>${operation} ${type} ${name}</code></p>`;
  return steps.length > 0 ? html`${title}${lines(steps)}` : title;
}

function diffLine(line: string): Html {
  if (/^(---|\+\+\+) /.test(line)) return html`<span class="line"><strong>${line}</strong></span>`;
  if (line.startsWith("+")) return html`<ins class="line">${line}</ins>`;
  if (line.startsWith("-")) return html`<del class="line">${line}</del>`;
  return html`<span class="line">${line}</span>`;
}

function cluster({ machines, nodeCounts }: StackReview): Html[] {
  const zones = byZone(machines);
  const counted = nodeCounts.map(({ name, count }) => html`<li>${name}: ${plural(count, "node")}</li>`);
  return [
    ...(machines.length > 0
      ? [
          html`<h3>Nodes by zone</h3>
            <div class="zones">${[...zones].map(([zone, ones]) => zoneCard(zone, ones))}</div>`,
        ]
      : []),
    ...(counted.length > 0
      ? [
          html`<h3>Nodes</h3>
            <ul>
              ${counted}
            </ul>`,
        ]
      : []),
  ];
}

function byZone(machines: readonly Machine[]): Map<string, Machine[]> {
  const zones = new Map<string, Machine[]>();
  for (const machine of machines) zones.set(machine.zone, [...(zones.get(machine.zone) ?? []), machine]);
  return zones;
}

const zoneCard = (zone: string, machines: readonly Machine[]): Html =>
  html`<div class="zone">
    <h4>${zone === "" ? "zone not known" : zone}</h4>
    <ul class="machines">
      ${machines.map(machineCard)}
    </ul>
  </div> `;

function machineCard({ name, role, pool, change, steps }: Machine): Html {
  const marks = { stays: "", joins: "joins", leaves: "leaves" };
  const isChanged = change !== "stays" || steps.length > 0;
  const where = role === pool || pool === "" ? role : `${role} of ${pool}`;
  return html`<li class="card${isChanged ? " changes" : ""}">
    <strong>${name}</strong> <span class="${change === "leaves" ? "bad" : "good"}">${marks[change]}</span>
    <p class="soft">${where}</p>
    ${steps.map((step) => html`<p>${step}</p>`)}
  </li> `;
}
