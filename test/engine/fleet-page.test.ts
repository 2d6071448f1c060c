import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { renderPage } from "../../cli/fleet/page/page";
import { leaveOut } from "../left-out";
import { Chromium } from "../support/chromium";
import { fleetReviewOf, HOSTILE, quietReview, stackReviewOf } from "../unit/cli/fleet/reviews";

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

/** The lightness of a color that the browser computes, 0 to 1. */
function lightness(color: unknown): number {
  const [red = 0, green = 0, blue = 0] = (String(color).match(/[\d.]+/g) ?? []).map(Number);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

describe("the page of a fleet in a browser", function () {
  this.timeout(600_000);
  let folder: string;
  let file: string;
  let browser: Chromium;

  before(async function () {
    if (!BY_NIGHT)
      leaveOut(this, "the page's text is tested by itself; FORESAIL_TEST_ALL=1 opens it in Chromium");
    folder = mkdtempSync(path.join(tmpdir(), "foresail-page-"));
    file = path.join(folder, "page.html");
    const long = `machine-${"x".repeat(200)}`;
    const review = fleetReviewOf({
      canary: { eu1: stackReviewOf({ notes: [...HOSTILE, long] }) },
      rest: { eu2: stackReviewOf({ diffs: [{ nodes: long, lines: [`+${long}`] }] }), us1: quietReview() },
    });
    writeFileSync(file, renderPage(review));
    browser = await Chromium.start();
  });
  after(async () => {
    await browser?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  const colors = () =>
    browser.evaluate(
      `(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.body))`,
    );
  const unfold = () =>
    browser.evaluate(`for (const one of document.querySelectorAll("details")) one.open = true`);

  for (const scheme of ["light", "dark"] as const)
    for (const width of [1280, 400])
      it(`is readable in ${scheme} colors and fits into ${width} px, without a request or an error`, async () => {
        await browser.open(file, scheme, width);
        const [back, fore] = ((await colors()) as string[]).map(lightness);
        assert.ok(Math.abs(back! - fore!) > 0.7, `${back} and ${fore}`);
        assert.equal(back! > 0.5, scheme === "light");
        await unfold();
        const wide = await browser.evaluate("document.documentElement.scrollWidth");
        assert.ok(Number(wide) <= width, `${String(wide)} px wide`);
        assert.deepEqual(browser.log, { requests: [`file://${file}`], errors: [] });
      });

  it("finds stacks by what is written about them", async () => {
    await browser.open(file, "light", 1280);
    const search = (words: string) =>
      browser.evaluate(`(() => {
        const field = document.getElementById("search");
        field.value = ${JSON.stringify(words)};
        field.dispatchEvent(new Event("input"));
        const shown = [...document.querySelectorAll("section.stack")].filter((one) => one.offsetParent !== null);
        return [shown.map((one) => ["eu1", "eu2", "us1"][one.dataset.stack]), document.getElementById("found").textContent];
      })()`);
    assert.deepEqual(await search("EU2"), [["eu2"], "1 stack found"]);
    assert.deepEqual(await search("eu-rollout drain"), [["eu1", "eu2"], "2 stacks found"]);
    assert.deepEqual(await search("nowhere"), [[], "0 stacks found"]);
    assert.deepEqual(await search(""), [["eu1", "eu2", "us1"], ""]);
    assert.deepEqual(browser.log.errors, []);
  });

  it("reports an error of a page, and a request that its policy refuses", async () => {
    const broken = path.join(folder, "broken.html");
    writeFileSync(
      broken,
      '<!doctype html><img src="http://127.0.0.1:9/x.png"><script>throw new Error("x")</script>',
    );
    await browser.open(broken, "light", 400);
    assert.ok(browser.log.requests.includes("http://127.0.0.1:9/x.png"), browser.log.requests.join());
    assert.ok(browser.log.errors.length > 0);
  });
});
