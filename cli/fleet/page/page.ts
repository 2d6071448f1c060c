import { createHash } from "node:crypto";
import { plural } from "../../../lib/text/plural";
import { stacksOf } from "../plan/fleet";
import { changeWords, type FleetReview, headline, type StackReview, versionWords } from "../plan/review";
import { fleetDangers } from "../review/dangers";
import { timelineOf } from "../plan/timeline";
import type { Progress } from "../plan/waves";
import { type Window, windowWords } from "../plan/window";
import { html, Html } from "./html";
import { SCRIPT } from "./script";
import { stackSection } from "./stack";
import { STYLE } from "./style";
import { timeline } from "./timeline";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** What the browser may do with the page: run its own style and script, and connect to nothing but a live run. */
export const contentPolicy = (isLive: boolean): string =>
  [
    "default-src 'none'",
    `style-src ${hash(STYLE)}`,
    `script-src ${hash(SCRIPT)}`,
    ...(isLive ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

/**
 * Renders the preview of a fleet as one HTML file that needs no other and no network.
 *
 * @param progress how far a run is, for the page that shows it while it runs
 */
export function renderPage(review: FleetReview, progress?: Progress): string {
  const { fleet, project, previewedAt, stacks } = review;
  const order = stacksOf(fleet);
  const idOf = new Map(order.map((name, index) => [name, index]));
  const title = `${fleet.name ?? project}: ${headline(review)}`;
  const isLive = progress !== undefined;
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${contentPolicy(isLive)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        ${new Html(`<style>${STYLE}</style>`)}
      </head>
      <body data-live="${isLive ? "yes" : "no"}">
        <a class="skip" href="#main">To the stacks</a>
        <header>
          <h1>${title}</h1>
          <p class="soft">Previewed at <time datetime="${previewedAt}">${previewedAt}</time></p>
          <p id="live" role="status" aria-live="polite">${isLive ? "the run begins" : ""}</p>
          <div class="search" role="search">
            <label for="search">Search stacks, nodes and steps</label>
            <input id="search" type="search" autocomplete="off" />
            <span id="found" role="status" aria-live="polite"></span>
          </div>
        </header>
        <main id="main" tabindex="-1">
          ${dangers(review, idOf)}
          <section aria-labelledby="waves">
            <h2 id="waves">Waves</h2>
            <ol class="waves">
              ${fleet.waves.map((wave) => waveColumn(wave, stacks, idOf, progress))}
            </ol>
          </section>
          ${timeline(
            timelineOf(fleet, (stack) => stacks[stack]?.seconds ?? UNIT),
            order.every((stack) => stacks[stack]?.seconds !== undefined),
            idOf,
          )}
          <section aria-labelledby="stacks">
            <h2 id="stacks">Stacks</h2>
            ${order.map((name, id) => stackSection(name, id, stacks[name]))}
          </section>
        </main>
        <footer>Made by foresail. This page loads nothing from the network.</footer>
        ${new Html(`<script>${SCRIPT}</script>`)}
      </body>
    </html> `;
  return text.text;
}

/** Length of a stack in a timeline without estimates. */
const UNIT = 60;

type Ids = ReadonlyMap<string, number>;

function dangers(review: FleetReview, idOf: Ids): Html | undefined {
  const found = fleetDangers(review);
  if (found.length === 0) return undefined;
  const link = (name: string) =>
    html` <a href="#stack-${idOf.get(name)}" data-stack="${idOf.get(name)}">${name}</a>`;
  const list = found.map(
    ({ kind, words, stacks }) =>
      html`<li><strong>${kind}</strong> in${stacks.map(link)}: <code>${words}</code></li> `,
  );
  return html`<section aria-labelledby="dangers">
    <h2 id="dangers">Review first</h2>
    <ul class="dangers">
      ${list}
    </ul>
  </section> `;
}

type Wave = FleetReview["fleet"]["waves"][number];

function waveColumn(wave: Wave, stacks: FleetReview["stacks"], idOf: Ids, progress?: Progress): Html {
  const { name, gate, window, windows = {} } = wave;
  const state =
    progress && html`: <span data-gate-of="${name}">${progress.gates[name] ?? "not begun"}</span>`;
  return html`<li>
    <h3>${name}</h3>
    ${window && html`<p class="soft">Window: ${windowWords(window)}</p>`}
    <ul class="cards">
      ${wave.stacks.map((stack) => stackCard({ name: stack, id: idOf.get(stack), stack: stacks[stack], progress, window: windows[stack] }))}
    </ul>
    ${gate && html`<p class="soft">Gate${state}: ${gateWords(gate)}</p>`}
  </li> `;
}

interface StackCard {
  readonly name: string;
  readonly id: number | undefined;
  readonly stack: StackReview | undefined;
  readonly progress: Progress | undefined;
  /** The window that the stack has instead of its wave's. */
  readonly window: Window | undefined;
}

function stackCard({ name, id, stack, progress, window }: StackCard): Html {
  const isDangerous = (stack?.dangers.length ?? 0) > 0;
  const kind = isDangerous ? "dangerous" : (stack?.changes.length ?? 0) > 0 ? "changes" : "";
  const facts = stack === undefined ? [] : [stack.system, versionWords(stack)].filter((fact) => fact !== "");
  return html`<li class="card ${kind}" data-stack="${id}">
    <a href="#stack-${id}">${name}</a>
    <p class="soft">${facts.join(", ")}</p>
    <p>${changeWords(stack)}</p>
    ${window && html`<p class="soft">Window: ${windowWords(window)}</p>`}
    ${isDangerous ? html`<p class="bad">${plural(stack?.dangers.length ?? 0, "dangerous step")}</p>` : undefined}
    ${progress && html`<p>State: <strong data-state-of="${name}">${progress.stacks[name] ?? "not begun"}</strong></p>`}
  </li> `;
}

function gateWords(gate: NonNullable<Wave["gate"]>): string {
  const { soakSeconds, nodesReady, url, command, approval } = gate;
  const parts = [
    soakSeconds !== undefined && `wait ${plural(soakSeconds, "second")}`,
    nodesReady === true && "all nodes Ready",
    url !== undefined && `answer of ${url}`,
    command !== undefined && command.join(" "),
    approval && "approval",
  ];
  return parts.filter((part) => part !== false).join(", then ");
}
