import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { escaped, html, Html } from "../../../../cli/fleet/page/html";
import { renderPage } from "../../../../cli/fleet/page/page";
import type { FleetReview, StackReview } from "../../../../cli/fleet/plan/review";
import { fleetReport } from "../../../../cli/fleet/commands/report";
import { writeReview } from "../../../../cli/fleet/review/review";
import { mapTexts } from "../../../../lib/json";
import { fleetReviewOf, HOSTILE, quietReview, stackReviewOf } from "./reviews";

const failed = (): StackReview =>
  stackReviewOf({ plan: undefined, changes: [], errors: ["x is refused"], machines: [] });

/** A review in which every text from outside goes through a function. */
function reviewWith(text: (plain: string) => string): FleetReview {
  const stack = (one: StackReview): StackReview => {
    const { machines, counts, ...others } = one;
    const changed = machines.map(({ change, ...machine }) => ({ ...mapTexts(machine, text), change }));
    return { ...mapTexts(others, text), machines: changed, counts };
  };
  const review = fleetReviewOf({
    [text("canary")]: { [text("eu1")]: stack(stackReviewOf({ nodeCounts: [{ name: "pool", count: 3 }] })) },
    [text("rest")]: { [text("eu2")]: stack(failed()), [text("us1")]: stack(quietReview()) },
  });
  const gate = { url: text("https://x"), command: [text("true")], approval: true, commandSeconds: 600 };
  const waves = review.fleet.waves.map((wave) => ({ ...wave, gate }));
  return { ...review, project: text("foresail"), fleet: { ...review.fleet, waves } };
}

/** The elements of a page with the names of their attributes. */
const skeleton = (page: string): string[] =>
  (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));

const attributes = (page: string, name: string): string[] =>
  [...page.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value = ""]) => value);

describe("the page of a fleet", () => {
  const page = renderPage(reviewWith((plain) => plain));
  const body = page.slice(page.indexOf("<body"), page.indexOf("<script>"));

  it("shows texts from outside as text, whatever they contain", () => {
    for (const hostile of HOSTILE) {
      const other = renderPage(reviewWith((plain) => `${plain}${hostile}`));
      assert.deepEqual(skeleton(other), skeleton(page), hostile);
    }
    const live = { stacks: {}, gates: {} };
    const liveSkeleton = skeleton(
      renderPage(
        reviewWith((plain) => plain),
        live,
      ),
    );
    for (const hostile of HOSTILE)
      assert.deepEqual(
        skeleton(
          renderPage(
            reviewWith((plain) => `${plain}${hostile}`),
            live,
          ),
        ),
        liveSkeleton,
        hostile,
      );
  });

  it("escapes every value of a template but HTML of another one", () => {
    assert.equal(
      html`<a title="${`"'<&>`}">${new Html("<b></b>")}</a>`.text,
      '<a title="&quot;&#39;&lt;&amp;&gt;"><b></b></a>',
    );
    assert.equal(escaped("password=hunter2 \u202e"), "password=[secret] \\u{202e}");
  });

  it("shows the window of a wave, and of a stack that has its own", () => {
    const review = reviewWith((plain) => plain);
    const window = { from: "22:00", to: "04:00", timeZone: "UTC", outside: "stop" } as const;
    const waves = review.fleet.waves.map((wave) => ({
      ...{ ...wave, window },
      windows: { eu2: { ...window, timeZone: "Europe/Berlin" } },
    }));
    const shown = renderPage({ ...review, fleet: { ...review.fleet, waves } });
    assert.deepEqual(shown.match(/Window: [^<]*/g), [
      "Window: 22:00 to 04:00 UTC",
      "Window: 22:00 to 04:00 UTC",
      "Window: 22:00 to 04:00 Europe/Berlin",
    ]);
  });

  it("may run its own script and style only, and loads nothing", () => {
    const [policy = ""] = attributes(page, "content").filter((value) => value.includes("default-src"));
    const inline = (tag: string) => new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page)?.[1] ?? "";
    const hash = (text: string) => createHash("sha256").update(text).digest("base64");
    assert.equal(
      policy.replaceAll("&#39;", "'"),
      `default-src 'none'; style-src 'sha256-${hash(inline("style"))}'; script-src 'sha256-${hash(inline("script"))}'; base-uri 'none'; form-action 'none'`,
    );
    assert.doesNotMatch(
      page,
      /\s(?:src|srcset|style|action|on\w+)=|url\(|@import|<(?:link|img|iframe|base)\b/,
    );
    assert.ok(attributes(page, "href").every((target) => target.startsWith("#")));
  });

  it("has landmarks, labels, and headings in order, for readers without a screen or mouse", () => {
    const ids = attributes(body, "id");
    assert.equal(new Set(ids).size, ids.length);
    const targets = [
      ...attributes(body, "aria-labelledby"),
      ...attributes(body, "for"),
      ...attributes(body, "href").map((target) => target.slice(1)),
    ];
    for (const target of targets) assert.ok(ids.includes(target), target);
    for (const tag of ["header", "main", "footer", "h1"])
      assert.equal(body.split(new RegExp(`<${tag}[ >]`)).length, 2, tag);
    const levels = [...body.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    levels.forEach((level, index) => assert.ok(level <= (levels[index - 1] ?? 0) + 1, String(levels)));
    assert.match(page, /<html lang="en">/);
    assert.match(body, /role="status" aria-live="polite"/);
    const style = page.slice(0, page.indexOf("<body"));
    for (const rule of ["prefers-color-scheme: dark", "@media print", ":focus-visible"])
      assert.ok(style.includes(rule), rule);
  });

  it("shows what was refused, nodes by zone with their steps, and the diff of files", () => {
    assert.match(body, /<h3>What was refused<\/h3>[^]*x is refused/);
    assert.match(
      body,
      /<h4>eu-1a<\/h4>[^]*<strong>cp-1<\/strong>[^]*cp-1 1\.35\.4 → 1\.36\.3[^]*<h4>eu-1b<\/h4>/,
    );
    assert.match(
      body,
      /<h3>Files of cp-1, w-1<\/h3>[^]*<del class="line">-a<\/del><ins class="line">\+b<\/ins>/,
    );
    assert.match(body, /There were no earlier runs to estimate from/);
  });

  it("is written by the report to a file that only its owner may read", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-page-"));
    const { formatVersion: _, ...review } = fleetReviewOf({ all: { eu1: failed() } });
    await writeReview(folder, review);
    const file = path.join(folder, "page.html");
    await fleetReport({ folder, html: file });
    assert.match(readFileSync(file, "utf8"), /^<!doctype html>/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    rmSync(folder, { recursive: true });
  });
});
