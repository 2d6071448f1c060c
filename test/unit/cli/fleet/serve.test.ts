import assert from "node:assert/strict";
import { get, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { UsageError } from "../../../../cli/terminal/exit-codes";
import type { Progress } from "../../../../cli/fleet/plan/waves";
import { type LivePage, portOf, progressWords, servePage } from "../../../../cli/fleet/review/serve";
import { fleetReviewOf, quietReview, stackReviewOf } from "./reviews";

const review = fleetReviewOf({ canary: { eu1: stackReviewOf() }, rest: { us1: quietReview() } });
const NOTHING: Progress = { stacks: {}, gates: {} };

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Asks a URL, also for another host than that of the connection. */
function ask(url: string, { method = "GET", host = "" } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { method, agent: false, ...(host && { headers: { host } }) };
    const sent = request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.on("error", reject).end();
  });
}

describe("the page of a run", () => {
  let page: LivePage;
  beforeEach(async () => (page = await servePage(review, { ...NOTHING, stacks: { eu1: "running" } }, 0)));
  afterEach(() => page.close());

  it("is shown on this machine at an address that can't be guessed, with its policy in a header, too", async () => {
    assert.match(page.url, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{48}\/$/);
    const { status, headers, text } = await ask(page.url);
    assert.equal(status, 200);
    assert.match(text, /data-state-of="eu1">running</);
    assert.match(text, /<body data-live="yes">/);
    assert.match(String(headers["content-security-policy"]), /^default-src 'none';.*frame-ancestors 'none'$/);
    assert.equal(headers["cache-control"], "no-store");
  });

  it("refuses other addresses, hosts and methods", async () => {
    const { origin, port, pathname } = new URL(page.url);
    for (const path of ["/", "/events", `/${"0".repeat(48)}/`, pathname.slice(0, -1), `${pathname}x`])
      assert.equal((await ask(`${origin}${path}`)).status, 404, path);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1"])
      assert.equal((await ask(page.url, { host })).status, 421, host);
    assert.equal((await ask(page.url, { host: `localhost:${port}` })).status, 200);
    assert.equal((await ask(page.url, { method: "POST" })).status, 405);
  });

  it("is sent each progress, and its end with the run", async () => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${page.url}events`, { agent: false }, resolve).on("error", reject);
    });
    let text = "";
    const ended = new Promise((resolve) => response.once("close", resolve));
    const first = new Promise<void>((resolve) =>
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        resolve();
      }),
    );
    await first;
    page.show({ stacks: { eu1: "done", us1: "failed" }, gates: { canary: "passed" } });
    await page.close();
    await ended;
    const lines = text.split("\n").filter((line) => line !== "");
    const sent = lines
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)) as object);
    assert.deepEqual(sent, [
      { stacks: { eu1: "running" }, gates: {}, words: "0 of 2 stacks done, 1 running" },
      {
        stacks: { eu1: "done", us1: "failed" },
        ...{ gates: { canary: "passed" }, words: "1 of 2 stacks done, 1 failed" },
      },
    ]);
    assert.equal(lines.at(-2), "event: end");
    await assert.rejects(ask(page.url), /ECONNREFUSED/);
    page = await servePage(review, NOTHING, 0);
  });

  it("needs a port that is free", async () => {
    const port = Number(new URL(page.url).port);
    await assert.rejects(servePage(review, NOTHING, port), /can't show the run on port \d+: .*--serve PORT/);
    assert.deepEqual([portOf(true), portOf("0"), portOf("8080")], [0, 0, 8080]);
    for (const wrong of ["x", "-1", "65536", "1.5", ""])
      assert.throws(() => portOf(wrong), UsageError, wrong);
  });

  it("counts the stacks by state", () => assert.equal(progressWords(review, NOTHING), "0 of 2 stacks done"));
});
