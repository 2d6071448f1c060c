import assert from "node:assert/strict";
import fc from "fast-check";
import { COMMENT_LIMIT, commentMarker, renderMarkdown, renderSummary } from "../../../../cli/review/markdown";
import { assertGolden } from "../../golden";
import { change, previewOf } from "./changes";

const rollout = change(
  "rollout",
  [
    "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
    "cp-2 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
    "w-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
  ],
  { type: "NodeRollout", inputs: { controlPlanes: [{ name: "cp-1" }, { name: "cp-2" }] } },
);
const dangerous = previewOf(
  [
    change("workers", [
      "from the recorded state, since the cluster could not be read: connect ETIMEDOUT",
      "w-3: lost, delete its Node",
      "w-1: join as worker of workers, wait until Ready",
      "w-2: cordon, drain, kubeadm reset, delete its Node",
    ]),
    change("control-plane", ["cp-3: cordon, drain, remove its etcd member, kubeadm reset, delete its Node"]),
    rollout,
    change("init", [], {
      type: "ClusterInit",
      operation: "replace",
      replaceReasons: ["specification.network.podCidr"],
    }),
    change("w-2-prepare", [], { type: "Command", operation: "delete" }),
  ],
  {
    notes: [
      "NodeRollout rollout: there is one control plane: the API does not answer while it changes",
      "NodeRollout rollout: w-3 is paused: it stays at 1.35.4",
      "NodeRollout rollout: w-1: the drain would wait: default/web-0 is held by the PodDisruptionBudget web, which allows no disruption now",
    ],
  },
);

describe("the comment of a pull request", () => {
  it("lists dangers first, the worst one first, and then the steps", () =>
    assertGolden("review/dangerous.md", renderMarkdown(dangerous)));

  it("without changes says so", () => assertGolden("review/nothing.md", renderMarkdown(previewOf([]))));

  it("of a refused preview contains the error", () => {
    const errors = [
      "Pulumi.prod.yaml has 2 mistakes; nothing was changed:\n  cluster.version: is not a version\n  cluster.nmae: is not known",
    ];
    assertGolden("review/refused.md", renderMarkdown(previewOf([], { errors })));
  });

  it("begins with a marker that distinguishes stacks and can't be escaped", () => {
    assert.equal(commentMarker({ project: "foresail", stack: "prod" }), "<!-- foresail:foresail/prod -->");
    for (const stack of ["a--><script>", "org/team/prod", "-->", "a--b"])
      assert.match(
        commentMarker({ project: "p", stack }),
        /^<!-- foresail:p\/(?!.*--.*-->)[\w.-]+ -->$/,
        stack,
      );
  });

  it("escapes markdown, HTML and mentions in steps and names", () => {
    const text = renderMarkdown(
      previewOf([change("<b>@all</b>", ["w-1: ``` </details> @team", "w-2: `x`"], { operation: "delete" })]),
    );
    assert.match(text, /^````text\nw-1: ``` <\/details> @team\nw-2: `x`\n````$/m);
    assert.match(text, /^\*\*`NodeGroup <b>@all<\/b>`\*\* \(delete\)$/m);
  });

  it("redacts secrets in errors", () => {
    const text = renderMarkdown(previewOf([], { errors: ["password=hunter2 was refused"] }));
    assert.equal(text.includes("hunter2"), false);
  });

  it("shows as many steps of one long resource as fit, and how many do not", () => {
    const steps = Array.from(
      { length: 2_000 },
      (_, index) => `w-${index}: join as worker of workers, wait until Ready`,
    );
    const text = renderMarkdown(previewOf([change("workers", steps), change("later", ["x: y"])]));
    assert.ok(text.length <= COMMENT_LIMIT && text.length > COMMENT_LIMIT - 500, String(text.length));
    assert.match(text, /… and \d+ more lines, left out here\n```\n/);
    assert.match(text, /_1 more part of the preview left out here; /);
  });

  it("is never longer than the limit, and its summary always whole", () => {
    const anyLine = fc.oneof(
      fc.string({ maxLength: 400, unit: "grapheme" }),
      fc.constantFrom(
        "w-1: lost, delete its Node",
        "cp-1: join as control plane unless it is one",
        "`".repeat(50),
      ),
    );
    const anyChange = fc
      .record({
        name: fc.string({ maxLength: 30 }),
        steps: fc.array(anyLine, { maxLength: 60 }),
        operation: fc.constantFrom("create", "update", "replace", "delete" as const),
      })
      .map(({ name, steps, operation }) => change(name, steps, { operation }));
    const any = fc.record({
      changes: fc.array(anyChange, { maxLength: 8 }),
      errors: fc.array(fc.string(), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(any, fc.nat({ max: 12_000 }), ({ changes, errors }, more) => {
        const preview = previewOf(changes, { errors });
        const summary = renderSummary(preview);
        const limit = summary.length + more;
        const text = renderMarkdown(preview, { limit });
        assert.ok(text.length <= limit, `${text.length} > ${limit}`);
        assert.ok(text.startsWith(summary));
        assert.ok(summary.length < COMMENT_LIMIT / 2, `the summary takes ${summary.length}`);
      }),
      { numRuns: 300 },
    );
  });
});
