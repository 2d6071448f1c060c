import assert from "node:assert/strict";
import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { parse } from "yaml";
import { exportedText } from "../../../../../cli/fleet/commands/export";
import { githubWorkflows } from "../../../../../cli/fleet/plan/export/github";
import { PULUMI_VERSION } from "../../../../../cli/fleet/plan/export/github-steps";
import { INSTALL } from "../../../../../cli/fleet/plan/export/exported";
import type { Fleet } from "../../../../../cli/fleet/plan/fleet";
import { nextOf, type Progress } from "../../../../../cli/fleet/plan/waves";
import { read } from "../../../docs/project";
import { assertForm, fleetNamed, fleets, hostileNames, schemaNamed } from "./fleets";

interface Job {
  readonly needs?: readonly string[];
  readonly if?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly stack: string } };
  readonly steps: readonly {
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
}

type Result = "success" | "failure" | "skipped";

const jobsOf = (fleet: Fleet, name: string) => {
  const file = githubWorkflows(fleet).find((one) => one.name === `foresail-${name}.yaml`)!;
  return (file.documents[0] as { jobs: Record<string, Job> }).jobs;
};

/** What an exported job sets for all of its steps, and the action for each of them. */
const OF_JOBS = /^(?:STACK|OUT|FILES|POLICY_PACK)$/;
const OF_PREVIEWS = /^(?:PULL_REQUEST|HEAD_SHA)$/;

/** Returns the action's steps of one command as exported workflows have them: in a clone, with secrets for inputs. */
function stepsOfAction(condition: string): Job["steps"] {
  const { runs } = parse(read("action.yml")) as { runs: { steps: readonly (Job["steps"][number] & Step)[] } };
  const command = condition.startsWith("files") ? "preview" : "apply";
  const text = (value: string) =>
    value
      .replace("${{ inputs.node-version }}", ".nvmrc")
      .replace("${{ inputs.pulumi-version }}", PULUMI_VERSION)
      .replace("${{ inputs.github-token }}", "${{ github.token }}")
      .replace(/inputs\.plan-key/, "secrets.FORESAIL_PLAN_KEY")
      .replace(
        /inputs\.([\w-]+)/,
        (_input, name: string) => `secrets.${name.toUpperCase().replaceAll("-", "_")}`,
      )
      .replaceAll("foresail-review", "${{ env.OUT }}");
  const texts = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name === "node-version" ? "node-version-file" : name,
        typeof value === "string" ? text(value) : value,
      ]),
    );
  return runs.steps
    .filter(
      (step) => step.if !== undefined && (step.if.includes(condition) || step.if.includes(`'${command}'`)),
    )
    .map(({ id, if: begins, uses, run, env, with: inputs }) => {
      const own = Object.entries(env ?? {}).filter(
        ([name]) => !OF_JOBS.test(name) && (command === "apply" || !OF_PREVIEWS.test(name)),
      );
      return {
        ...(begins!.includes("inputs.command") ? {} : { if: begins! }),
        ...(id !== undefined && { id }),
        ...(uses !== undefined && { uses }),
        ...(run !== undefined && {
          run: run.startsWith("npm ci")
            ? INSTALL
            : run
                .replace(/^'?"?|"(?= |$)/g, "")
                .replace('"$GITHUB_ACTION_PATH/', "$GITHUB_ACTION_PATH/")
                .replace("$GITHUB_ACTION_PATH/examples/github", ".github"),
        }),
        ...(inputs !== undefined && { with: texts(inputs) }),
        ...(own.length > 0 && { env: texts(Object.fromEntries(own)) as Record<string, string> }),
      };
    });
}

/** What a condition can use. */
const EXPRESSIONS = createContext({ cancelled: () => false });

/** Runs the jobs of the apply workflow as GitHub does. @returns their results */
function runJobs(
  fleet: Fleet,
  touched: readonly string[],
  failing: ReadonlySet<string>,
): Record<string, Result> {
  const outputs = Object.fromEntries(
    fleet.waves.map(({ name, stacks }) => [
      `wave-${name}`,
      JSON.stringify(stacks.filter((stack) => touched.includes(stack))),
    ]),
  );
  const results: Record<string, Result> = { changed: "success" };
  for (const [name, job] of Object.entries(jobsOf(fleet, "apply")).slice(1)) {
    const needs = Object.fromEntries(
      (job.needs ?? []).map((one) => [
        one,
        { result: results[one]!, outputs: one === "changed" ? outputs : {} },
      ]),
    );
    for (const [one, { result }] of Object.entries(needs))
      assert.ok(result, `${name} needs ${one}, which comes later`);
    // what the conditions use of GitHub's expressions means the same in JavaScript
    const condition = /^\$\{\{(.*)\}\}$/.exec(job.if ?? "")![1]!;
    const begins = runInContext(condition, Object.assign(EXPRESSIONS, { needs })) as boolean;
    results[name] = !begins ? "skipped" : failing.has(name) ? "failure" : "success";
  }
  return results;
}

/** Runs the touched stacks in waves as `foresail fleet up` does. @returns the waves and gates that begin */
function runFleet(fleet: Fleet, touched: readonly string[], failing: ReadonlySet<string>): Set<string> {
  const waves = fleet.waves
    .map((wave) => ({ ...wave, stacks: wave.stacks.filter((stack) => touched.includes(stack)) }))
    .filter(({ stacks }) => stacks.length > 0);
  const begun = new Set<string>();
  let progress: Progress = { stacks: {}, gates: {} };
  for (;;) {
    // a stack that fails leaves the others of its wave to end: GitHub has begun them, too
    const next = nextOf({ ...fleet, waves, maxParallel: 50 }, progress);
    if (next.end !== undefined) return begun;
    for (const stack of next.stacks) {
      const wave = waves.find(({ stacks }) => stacks.includes(stack))!.name;
      begun.add(`wave-${wave}`);
      progress = {
        ...progress,
        stacks: { ...progress.stacks, [stack]: failing.has(`wave-${wave}`) ? "failed" : "done" },
      };
    }
    if (next.gate !== undefined) {
      const parts = [`gate-${next.gate}`, `approve-${next.gate}`];
      begun.add(`gate of ${next.gate}`);
      progress = {
        ...progress,
        gates: {
          ...progress.gates,
          [next.gate]: parts.some((part) => failing.has(part)) ? "failed" : "passed",
        },
      };
    }
  }
}

describe("workflows for GitHub", function () {
  this.timeout(120_000);

  it("have the form of GitHub's schema, whatever fleet.yaml says, and are read as they were meant", () => {
    assertForm(schemaNamed("github-workflow.json"), githubWorkflows);
  });

  it("begin the waves that `fleet up` would begin, whatever fails", () =>
    fc.assert(
      fc.property(
        fleets,
        fc.infiniteStream(fc.boolean()),
        fc.infiniteStream(fc.nat(3)),
        (fleet, touches, luck) => {
          const touched = fleet.waves.flatMap(({ stacks }) => stacks).filter(() => touches.next().value);
          const names = Object.keys(jobsOf(fleet, "apply"));
          const failing = new Set(names.filter((name) => name !== "changed" && luck.next().value === 0));
          const results = runJobs(fleet, touched, failing);
          const begun = runFleet(fleet, touched, failing);
          for (const { name } of fleet.waves) {
            assert.equal(results[`wave-${name}`] !== "skipped", begun.has(`wave-${name}`), `wave ${name}`);
            const gates = [results[`gate-${name}`], results[`approve-${name}`]];
            const asked = gates.some((result) => result !== undefined && result !== "skipped");
            const hasGate = gates.some((result) => result !== undefined);
            if (hasGate) assert.equal(asked, begun.has(`gate of ${name}`), `gate of ${name}`);
          }
        },
      ),
      { numRuns: 300 },
    ));

  it("begin nothing when the touched stacks are not known", () => {
    const [fleet] = fc.sample(fleets, { numRuns: 1, seed: 1 });
    for (const [name, { if: condition = "" }] of Object.entries(jobsOf(fleet!, "apply")).slice(1))
      assert.match(condition, /needs\['changed'\]\.result == 'success'/, name);
  });

  it("run the same commands for every fleet, and put no text of it into one", () =>
    fc.assert(
      fc.property(fleets, (fleet) => {
        for (const file of githubWorkflows(fleet)) {
          const { jobs } = file.documents[0] as { jobs: Record<string, Job> };
          for (const { steps } of Object.values(jobs))
            for (const { run } of steps) if (run !== undefined) assert.ok(COMMANDS.includes(run), run);
        }
      }),
      { numRuns: 20 },
    ));

  const COMMANDS = [
    "npm ci --ignore-scripts && npm run build",
    "npx --no-install foresail fleet export github --check .github/workflows",
    'npx --no-install foresail fleet gate --wave "$WAVE"',
    "echo approved",
    ...["take-stack-files.sh", "preview.sh", "fleet-comment.sh", "apply.sh", "drift.sh"].map(
      (name) => `.github/foresail/${name}`,
    ),
    ...["write", "check"].map((what) => `node .github/foresail/plan-seal.mjs ${what}`),
    ...["comment.mjs", "find-plan.mjs", "drift-issue.mjs"].map((name) => `node .github/foresail/${name}`),
    ...["branch", "merge", "all"].map((change) => `node .github/foresail/changed-stacks.mjs ${change}`),
  ];

  it("refuse names that are not plain text", () =>
    fc.assert(
      fc.property(hostileNames, (name) => {
        assert.throws(
          () => githubWorkflows(fleetNamed(name, "canary")),
          /can't be exported: only names of letters/,
        );
        assert.throws(() => githubWorkflows(fleetNamed("prod", name)), /can't be exported/);
      }),
    ));

  it("have the steps of the action, with the same pinned actions", () => {
    const fleet = fleetNamed("prod", "canary");
    const [previewed, applied] = ["files.outputs.preview", "plan.outputs.run-id"].map(stepsOfAction);
    // a stack by itself has its own comment; a fleet has one, made of what each stack leaves
    const isOwn = ({ run = "", with: inputs }: Job["steps"][number]) =>
      !run.endsWith("comment.mjs") && inputs?.["name"] !== "review-${{ env.STACK }}";
    const { preview } = jobsOf(fleet, "preview");
    assert.deepEqual(preview!.steps.filter(isOwn), previewed!.filter(isOwn));
    assert.equal(preview!.steps.length, previewed!.length);
    assert.deepEqual(jobsOf(fleet, "apply")["wave-canary"]!.steps, applied);
    for (const file of githubWorkflows(fleet))
      for (const line of exportedText(file).match(/uses: .*/g) ?? [])
        assert.match(line, /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const { devDependencies } = JSON.parse(read("package.json")) as {
      devDependencies: Record<string, string>;
    };
    assert.equal(PULUMI_VERSION, devDependencies["@pulumi/pulumi"]);
  });

  it("give secrets only to steps that run foresail, in jobs with an environment", () => {
    const [fleet] = fc.sample(
      fleets.filter(({ waves }) => waves.some(({ gate }) => gate?.nodesReady)),
      { numRuns: 1, seed: 7 },
    );
    for (const name of ["preview", "apply", "drift"])
      for (const [id, job] of Object.entries(jobsOf(fleet!, name))) {
        const { steps, ...rest } = job;
        assert.equal(JSON.stringify(rest).includes("secrets."), false, id);
        for (const { run = "", env = {} } of steps)
          if (JSON.stringify(env).includes("secrets.")) {
            assert.match(run, /(?:preview|apply|drift)\.sh$|foresail fleet gate|plan-seal\.mjs/);
            assert.ok(job.environment, id);
          }
      }
  });

  it("take the preview's own file from the default branch", () => {
    const file = githubWorkflows(fleetNamed("prod", "canary")).find(({ name }) => name.includes("preview"))!;
    assert.deepEqual((file.documents[0] as { on: object }).on, {
      pull_request_target: { branches: ["main"] },
    });
  });

  it("have no permission but those that a job needs", () => {
    const permissions = (name: string) =>
      Object.fromEntries(
        Object.entries(jobsOf(fleetNamed("prod", "canary"), name)).map(([id, job]) => [id, job.permissions]),
      );
    const read = { contents: "read" };
    assert.deepEqual(permissions("preview"), {
      changed: read,
      preview: read,
      comment: { ...read, "pull-requests": "write" },
    });
    assert.deepEqual(permissions("apply"), {
      changed: { ...read, "pull-requests": "read" },
      "wave-canary": { ...read, actions: "read", "pull-requests": "read" },
    });
    assert.deepEqual(permissions("drift"), { stacks: read, drift: { ...read, issues: "write" } });
  });
});
