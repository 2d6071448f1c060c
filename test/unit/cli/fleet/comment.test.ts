import assert from "node:assert/strict";
import fc from "fast-check";
import { CommentTooLongError, fleetMarker, renderFleetComment } from "../../../../cli/fleet/review/comment";
import type { StackReview } from "../../../../cli/fleet/plan/review";
import { code } from "../../../../lib/text/markdown";
import { assertGolden } from "../../golden";
import { fleetReviewOf, HOSTILE, quietReview, stackReviewOf } from "./reviews";

/** GitHub's own limit. */
const GITHUB_LIMIT = 65_536;

const anyText = fc.oneof(
  fc.string({ maxLength: 300, unit: "grapheme" }),
  fc.constantFrom(...HOSTILE, "`".repeat(40)),
);
const anyStack = fc
  .record({
    name: anyText,
    steps: fc.array(anyText, { maxLength: 40 }),
    dangers: fc.array(anyText, { maxLength: 3 }),
    notes: fc.array(anyText, { maxLength: 20 }),
    lines: fc.array(anyText, { maxLength: 100 }),
  })
  .map(({ name, steps, dangers, notes, lines }) =>
    stackReviewOf({
      changes: [{ type: "NodeGroup", name, operation: "update", steps: [...steps, ...dangers] }],
      dangers: dangers.map((words) => ({ kind: "deleted", words })),
      ...{ notes, diffs: [{ nodes: name, lines }] },
    }),
  );
const anyStacks = fc.dictionary(anyText, anyStack, { minKeys: 1, maxKeys: 8 });

/** The text outside of code, where GitHub reads Markdown and HTML. */
function outsideOfCode(comment: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of comment.split("\n")) {
    const ticks = /^`{3,}/.exec(line)?.[0];
    if (fence !== undefined) fence = line === fence ? undefined : fence;
    else if (ticks !== undefined && line === `${ticks}text`) fence = ticks;
    else lines.push(line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, "CODE"));
  }
  assert.equal(fence, undefined, "a code block does not end");
  return lines.join("\n");
}

describe("the comment on a fleet", () => {
  it("shows dangers once for all stacks that have them, a table, and folded details", () => {
    const waves = {
      canary: { eu1: stackReviewOf() },
      rest: {
        eu2: stackReviewOf(),
        us1: quietReview(),
        us2: stackReviewOf({
          ...{ plan: undefined, system: "", version: {}, changes: [], notes: [], diffs: [] },
          errors: ["Pulumi.us2.yaml has 1 validation issue:\n  cluster.version: is not a version"],
          dangers: [{ kind: "refused", words: "Pulumi.us2.yaml has 1 validation issue:" }],
        }),
      },
    };
    assertGolden("review/fleet.md", renderFleetComment(fleetReviewOf(waves)));
  });

  it("has one marker that names project and fleet, and that no name can end", () => {
    const review = fleetReviewOf({ all: { eu1: quietReview() } });
    assert.equal(fleetMarker(review), "<!-- foresail:fleet/foresail/foresail -->");
    for (const project of HOSTILE)
      assert.match(fleetMarker({ ...review, project }), /^<!-- foresail:fleet\/(?!.*--.*-->)[\w./-]+ -->$/);
    assert.equal(renderFleetComment(review).split("<!--").length, 2);
  });

  it("ends with the whole hash of each plan for a pipeline, also where the table shortens it", () => {
    const hostile = Object.fromEntries(HOSTILE.map((name) => [name, quietReview()]));
    const failed = stackReviewOf({ plan: undefined });
    const review = fleetReviewOf({ all: { eu1: stackReviewOf(), us1: failed, ...hostile } });
    const plain = renderFleetComment(review);
    const text = renderFleetComment(review, { plans: true });
    assert.equal(text, `${plain}<!-- foresail-plans: eu1=${"a".repeat(64)} -->\n`);
    const many = Object.fromEntries(Array.from({ length: 256 }, (_, at) => [`eu${at}`, stackReviewOf()]));
    const long = renderFleetComment(fleetReviewOf({ all: many }), { plans: true });
    assert.ok(long.length <= GITHUB_LIMIT, String(long.length));
    assert.equal(
      long
        .trimEnd()
        .split("\n")
        .at(-1)
        ?.match(/ eu\d+=a{64}(?= )/g)?.length,
      256,
    );
  });

  it("is never longer than the limit, and has every dangerous line and every stack", () => {
    fc.assert(
      fc.property(anyStacks, fc.integer({ min: 500, max: 20_000 }), (stacks, limit) => {
        let text: string;
        try {
          text = renderFleetComment(fleetReviewOf({ all: stacks }), { limit });
        } catch (error) {
          assert.ok(error instanceof CommentTooLongError);
          return;
        }
        assert.ok(text.length <= limit, `${text.length} > ${limit}`);
        for (const [name, { dangers }] of Object.entries(stacks)) {
          assert.ok(text.includes(`| ${code(name)} |`), name);
          for (const { words } of dangers) assert.ok(text.includes(`: ${code(words)}\n`), words);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("shows no text from outside as Markdown or HTML", () => {
    fc.assert(
      fc.property(anyStacks, (stacks) => {
        const text = outsideOfCode(renderFleetComment(fleetReviewOf({ all: stacks })));
        const own = text
          .replace(/^<!-- foresail:fleet\/[\w./-]+ -->$/m, "")
          .replace(/^<details><summary><code>(?:[A-Za-z0-9 ./_-]|&#\d+;)*<\/code><\/summary>$/gm, "")
          .replace(/^<\/details>$/gm, "");
        assert.doesNotMatch(own, /[<>[\]@]|:\/\//, own);
      }),
      { numRuns: 150 },
    );
  });

  it("leaves out the least important details first, and says what", () => {
    const long = (count: number) =>
      Array.from({ length: count }, (_, index) => `line ${index} of a long text`);
    const stack = (): StackReview =>
      stackReviewOf({ notes: long(200), diffs: [{ nodes: "w-1", lines: long(2_000) }] });
    const stacks = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`eu${index}`, stack()]));
    const text = renderFleetComment(fleetReviewOf({ all: stacks }));
    assert.ok(text.length <= GITHUB_LIMIT && text.length > GITHUB_LIMIT - 5_000, String(text.length));
    assert.equal(text.split("`update NodeRollout eu-rollout`").length, 9);
    assert.match(text, /^_Left out here: \d+ lines of .*diffs\._$/m);
    assert.match(text, /^_Left out of this comment, for its size: .*\d+ lines of diffs of 8 stacks\. /m);
    assert.ok(text.indexOf("lines of diffs") > 0);
  });

  it("counts stacks without changes where their rows do not fit", () => {
    const stacks = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`eu${index}`, quietReview()]),
    );
    const text = renderFleetComment(fleetReviewOf({ all: { ...stacks, us1: stackReviewOf() } }));
    assert.ok(text.length <= GITHUB_LIMIT);
    assert.match(text, /^\| … \| 900 stacks where nothing changes \|/m);
    assert.match(text, /^\| `all` \| `us1` \|/m);
  });

  it("is refused where dangerous lines alone are too long, instead of hiding some", () => {
    const dangers = Array.from({ length: 300 }, (_, index) => ({
      kind: "lost",
      words: `w-${index}: ${"x".repeat(290)}`,
    }));
    const review = fleetReviewOf({ all: { eu1: stackReviewOf({ dangers }) } });
    assert.throws(() => renderFleetComment(review), CommentTooLongError);
  });
});
