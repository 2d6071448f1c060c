import assert from "node:assert/strict";
import fc from "fast-check";
import {
  renderForecastMarkdown as planMarkdown,
  renderForecast as planText,
} from "../../../../cli/forecast/render";
import { planReport } from "../../../../cli/forecast/report";
import { monitorLine } from "../../../../cli/commands/monitor";
import { renderMarkdown as reviewMarkdown } from "../../../../cli/review/markdown";
import { renderText as reviewText, sideBySide } from "../../../../cli/review/text";
import { print, printError } from "../../../../cli/terminal/terminal";
import { recordNodeEvent, type KubernetesClient } from "../../../../lib/kubernetes";
import { displayed } from "../../../../lib/pulumi/displayed-handlers";
import { describeFailure, PartialFailure } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { report } from "../../../../lib/pulumi/log";
import { SshCommandError } from "../../../../lib/ssh";
import { displayEngineLine, displayJson, displayLine, displayText } from "../../../../lib/text/display";
import { cleanFacts, plainNode, plainPod } from "../../cli/forecast/facts";
import { change, previewOf } from "../../cli/review/changes";
import { assertInert, assertInertMarkdown, hostileText } from "./hostile";

/** The forecast of a cluster in which every text is hostile. */
function forecast(text: string) {
  const facts = cleanFacts({
    server: `https://${text}:6443`,
    clusterVersion: "1.35.4",
    nodes: [plainNode("cp-1", "1.35.4"), plainNode(text, "1.35.4", false), plainNode("w-1", `1.35.4${text}`)],
    pods: [plainPod(text, { node: "cp-1" }), plainPod("b", { node: text, owner: text, emptyDir: text })],
    certificates: [{ what: text, notAfter: "2026-11-22T00:00:00Z" }],
    notes: [text],
    unread: [text],
    metrics: `apiserver_requested_deprecated_apis{group="${text}",removed_release="1.36",resource="${text}",version="v1"} 1`,
  });
  const allow = { force: false, deleteEmptyDirData: false };
  const options = {
    target: "1.36.3",
    allow,
    maxUnavailable: 1,
    intermediates: [],
    now: new Date("2026-11-21"),
  };
  return planReport(facts, options);
}

/** A preview in which every text is hostile. */
const preview = (text: string) =>
  previewOf(
    [
      change(text, [text, `w-1: ${text}`, "w-2: join as worker of workers"], { replaceReasons: [text] }),
      change(text, [], { type: text, operation: "replace", replaceReasons: [text] }),
      change("workers", [text], { operation: "delete" }),
    ],
    { stack: text, project: text, errors: [text, `a\n${text}`], notes: [`NodeGroup x: ${text}`, text] },
  );

/** Returns what a function prints. */
function printed(act: () => void): string {
  const [out, err] = [process.stdout.write.bind(process.stdout), process.stderr.write.bind(process.stderr)];
  let text = "";
  const write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk);
    return true;
  };
  process.stdout.write = write;
  process.stderr.write = write;
  try {
    act();
  } finally {
    process.stdout.write = out;
    process.stderr.write = err;
  }
  return text;
}

const printedLines = (lines: readonly string[]) => printed(() => lines.forEach(print));

/** Returns what the engine gets of a handler: steps, refusals, the error. */
async function handled(text: string): Promise<string> {
  const inputs = { steps: [text, `w-1: ${text}`] };
  const fail = () =>
    Promise.reject(new PartialFailure("id", {}, { resource: text, step: text }, new Error(text)));
  const handlers = displayed({
    check: () => Promise.resolve({ inputs, failures: [{ property: text, reason: text }] }),
    create: fail,
    delete: () => Promise.reject(new TypeError(text)),
  } as Handlers);
  const said: string[] = [];
  const collect = (error: Error & { reasons?: string[] }) =>
    said.push(error.message, String(error.stack), ...(error.reasons ?? []));
  await handlers.create({}).catch(collect);
  await handlers.delete!("id", {}).catch(collect);
  const { inputs: checked, failures = [] } = (await handlers.check!({}, {})) as {
    inputs: typeof inputs;
    failures?: { property: string; reason: string }[];
  };
  const { steps } = checked;
  for (const step of steps) assert.ok(!step.includes("\n"), step);
  return [...said, ...steps, ...failures.flatMap(({ property, reason }) => [property, reason])].join("\n");
}

async function nodeEvent(text: string): Promise<string> {
  let written = "";
  const create = (object: { message?: string }) => Promise.resolve((written = object.message ?? ""));
  await recordNodeEvent({ create } as unknown as KubernetesClient, {
    node: "w-1",
    reason: "Failed",
    message: text,
  });
  return written;
}

type Renderer = (text: string) => string | Promise<string>;

/** Everything that displays texts from clusters, clouds, machines and pull requests. */
const RENDERERS: Record<string, Renderer> = {
  "a line on the terminal": (text) => printed(() => print(text)),
  "an error on the terminal": (text) => printed(() => printError(`error: ${text}`)),
  "foresail plan": (text) => planText(forecast(text)),
  "foresail plan as JSON": (text) => displayJson(forecast(text)),
  "a preview": (text) => printedLines(reviewText(preview(text))),
  "a preview as JSON": (text) => displayJson(preview(text)),
  "what moved since a review": (text) =>
    printedLines(
      sideBySide([{ name: text, type: text, why: text, reviewed: [text], current: [`${text}.`] }]),
    ),
  "a line of the engine": (text) =>
    text
      .split(/[\r\n\u2028\u2029]/)
      .map(displayEngineLine)
      .join("\n"),
  "a handler's progress": (text) => printed(() => report(text, text)),
  "a failed command of a machine": (text) =>
    describeFailure(
      { resource: text, step: text },
      new SshCommandError(text, text, 1, undefined, { stderr: text, greeting: text, hasBegun: false }, text),
    ),
  "a resource's steps, refusals and errors": handled,
  "a Node's Event": nodeEvent,
  "a line of foresail monitor": (text) => printed(() => print(monitorLine(text))),
};

const MARKDOWN: Record<string, Renderer> = {
  "foresail plan as Markdown": (text) => planMarkdown(forecast(text)),
  "the comment of a pull request": (text) => reviewMarkdown(preview(text)),
  "a cut comment": (text) => reviewMarkdown(preview(text), { limit: 2_000 }),
};

describe("text from outside", () => {
  for (const [name, render] of Object.entries(RENDERERS))
    it(`does not act in ${name}`, () =>
      fc.assert(
        fc.asyncProperty(hostileText, async (text) =>
          // colors are the engine's own
          // eslint-disable-next-line no-control-regex
          assertInert((await render(text)).replace(/\u001b\[[0124]?m/g, "")),
        ),
      ));

  for (const [name, render] of Object.entries(MARKDOWN))
    it(`is only code in ${name}`, () =>
      fc.assert(fc.asyncProperty(hostileText, async (text) => assertInertMarkdown(await render(text)))));

  it("is one line for each event of foresail monitor, which begins with its time", () =>
    fc.assert(
      fc.property(hostileText, (text) => {
        const line = printed(() => print(monitorLine(text, new Date(0))));
        assert.match(line, /^1970-01-01T00:00:00\.000Z [^\r\n]*\n$/);
      }),
    ));

  it("is exact in JSON", () =>
    fc.assert(
      fc.property(hostileText, (text) =>
        assert.deepEqual(JSON.parse(displayJson({ [text]: [text] })), { [text]: [text] }),
      ),
    ));

  it("is the same when it passes a second place", () =>
    fc.assert(
      fc.property(hostileText, (text) => {
        assert.equal(displayText(displayText(text)), displayText(text));
        assert.equal(displayLine(displayLine(text)), displayLine(text));
      }),
    ));

  it("stays as it is when it is plain", () => {
    for (const text of [
      "w-1: cordon → drain",
      "a\n  next: b",
      "módulo ✗ 文字 🙂",
      "urn:pulumi:p::s",
      "see #12 and ##",
    ])
      assert.equal(displayText(text), text);
  });

  it("shows what was escaped", () => {
    assert.equal(displayText("\u001b[31mred\u001b[0m \u202eabc"), "red \\u{202e}abc");
    assert.equal(displayText(" ::error::x ##[y]"), " \\u{3a}:error::x #\\u{23}[y]");
    assert.equal(displayText("10%\r50%\r\ndone"), "10%\n50%\ndone");
  });

  it("is cut when it is longer than a terminal can use, and says how much is left out", () => {
    const long = "w-1: cordon\n".repeat(2 ** 18);
    const shown = displayText(long);
    assert.ok(shown.length <= 2 ** 20);
    assert.match(shown, /… \(\d{7} more characters\)$/);
    assert.equal(displayText(shown), shown);
    assert.equal(displayText("a".repeat(2 ** 20)).length, 2 ** 20);
  });

  it("loses the colors of a line that has thousands, in a short time", () => {
    const before = process.cpuUsage();
    const shown = displayEngineLine("\u001b[1mx".repeat(200_000));
    assert.ok(/^x{200000}$/.test(shown), shown.slice(0, 80));
    assert.ok(process.cpuUsage(before).user < 8_000_000);
  });

  it("keeps the engine's colors, and no other sequence", () => {
    assert.equal(
      displayEngineLine("\u001b[1m\u001b[38;5;13mup\u001b[0m\u001b[8mx\u001b[41m"),
      "\u001b[1m\u001b[38;5;13mup\u001b[0mx",
    );
  });
});
