import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { ACTIONS, PULUMI_VERSION } from "../../../cli/fleet/plan/export/github-steps";
import { filesBelow, PROJECT, read } from "./project";

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly shell?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions: Readonly<Record<string, string>>;
        readonly concurrency: { readonly group: string; readonly "cancel-in-progress": boolean };
        readonly "timeout-minutes": number;
        readonly environment: string;
        readonly env?: object;
        readonly steps: readonly Step[];
      }
    >
  >;
}

interface Input {
  readonly description: string;
  readonly required?: boolean;
  readonly default?: string;
}

const ACTION = parse(read("action.yml")) as {
  readonly inputs: Readonly<Record<string, Input>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};
const { steps } = ACTION.runs;
const SCRIPT = /\$GITHUB_ACTION_PATH\/([\w./-]+)/;
const scriptOf = ({ run = "" }: Step) => path.basename(SCRIPT.exec(run)?.[1] ?? "");
const stepsOf = (script: string) => steps.filter((step) => scriptOf(step) === script);
/** What the backend and each system read credentials from. */
const CREDENTIALS = [
  ...["pulumi-backend-url", "pulumi-access-token", "pulumi-config-passphrase"],
  ...["aws-access-key-id", "aws-secret-access-key", "reader-kubeconfig", "clouds-yaml"],
  ...["tumblebug-username", "tumblebug-password"],
];
const variableOf = (input: string) => input.toUpperCase().replaceAll("-", "_");
const EXAMPLES = filesBelow("examples/github/workflows", ".yaml");

describe("the action", () => {
  it("pins actions to the commits of the exported workflows, and names their versions", () => {
    const lines = read("action.yml").match(/uses: .*/g)!;
    assert.equal(lines.length, steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) {
      const [, name = "", commit, version] = /^uses: ([\w/-]+)@(\w+) # (\S+)$/.exec(line) ?? [];
      assert.deepEqual(ACTIONS[name as keyof typeof ACTIONS], [commit, version], line);
    }
  });

  it("runs its own scripts, which exist and are executable", () => {
    const scripts = steps.flatMap(({ run = "" }) => SCRIPT.exec(run)?.[1] ?? []);
    assert.equal(scripts.length, 8, scripts.join());
    for (const script of scripts)
      accessSync(path.join(PROJECT, script), script.endsWith(".sh") ? constants.X_OK : constants.R_OK);
  });

  it("names a shell for each command, and puts no text of others into one", () => {
    assert.equal(ACTION.runs.using, "composite");
    for (const { run, shell } of steps.filter((step) => step.run !== undefined)) {
      assert.equal(shell, "bash", run);
      assert.equal(run!.includes("${{"), false, run);
    }
  });

  it("checks where it runs before anything else", () => assert.equal(scriptOf(steps[0]!), "check-event.sh"));

  const REPOSITORY = { GITHUB_REPOSITORY: "example/clusters" };
  const preview = { ...REPOSITORY, COMMAND: "preview", GITHUB_EVENT_NAME: "pull_request_target" };
  const own = { ...preview, HEAD_REPOSITORY: "example/clusters" };
  const apply = { ...REPOSITORY, COMMAND: "apply", GITHUB_EVENT_NAME: "push", GITHUB_REF: "refs/heads/main" };
  const events: Readonly<Record<string, readonly [environment: Record<string, string>, refusal?: RegExp]>> = {
    "previews a branch of its repository": [own],
    "applies on main": [apply],
    "applies on main when a person starts it": [{ ...apply, GITHUB_EVENT_NAME: "workflow_dispatch" }],
    "previews no event whose workflow is the branch's": [
      { ...own, GITHUB_EVENT_NAME: "pull_request" },
      /event pull_request_target.*this is pull_request\./,
    ],
    "previews no fork": [{ ...own, HEAD_REPOSITORY: "other/clusters" }, /another repository/],
    "previews no fork that is gone": [{ ...preview, HEAD_REPOSITORY: "" }, /another repository/],
    "applies on no other branch": [{ ...apply, GITHUB_REF: "refs/heads/mine" }, /Only main is applied/],
    "applies on no tag named main": [{ ...apply, GITHUB_REF: "refs/tags/main" }, /Only main is applied/],
    "does nothing else": [{ ...apply, COMMAND: "destroy" }, /preview or apply/],
  };
  for (const [title, [environment, refusal]] of Object.entries(events))
    it(title, () => {
      const { run } = steps[0]!;
      const { status, stdout } = spawnSync("bash", ["-eo", "pipefail", "-c", run!], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], GITHUB_ACTION_PATH: PROJECT, ...environment },
      });
      assert.equal(status, refusal === undefined ? 0 : 1, stdout);
      if (refusal !== undefined) assert.match(stdout, refusal);
    });

  it("runs no install script of a dependency", () => {
    const installs = steps.flatMap(({ run = "" }) => (run.includes("npm ") ? run : []));
    assert.deepEqual(new Set(installs), new Set(["npm ci --ignore-scripts && npm run build --if-present"]));
  });

  it("gives credentials only to the step that runs foresail, and the key only to the seal", () => {
    for (const step of steps) {
      const values = JSON.stringify([step.env, step.with]);
      const given = [...values.matchAll(/inputs\.([\w-]+)/g)].map(([, name = ""]) => name);
      const isForesail = /^(?:preview|apply)\.sh$/.test(scriptOf(step));
      const isSeal = scriptOf(step) === "plan-seal.mjs";
      const secrets = given.filter((name) => [...CREDENTIALS, "plan-key"].includes(name));
      // what the stack's secrets could be used for never runs beside the key
      const expected = isSeal
        ? ["plan-key"]
        : isForesail
          ? CREDENTIALS.filter((name) => name !== "reader-kubeconfig" || scriptOf(step) === "preview.sh")
          : [];
      assert.deepEqual(secrets, expected, step.run ?? step.uses);
      if (isForesail)
        for (const name of expected) assert.equal(step.env![variableOf(name)], `\${{ inputs.${name} }}`);
    }
  });

  it("names the pull request and its plan by what GitHub and earlier steps say, the same in each step", () => {
    const sources: Readonly<Record<string, readonly string[]>> = {
      STACK: ["inputs.stack"],
      PULL_REQUEST: ["github.event.pull_request.number", "steps.plan.outputs.pull-request"],
      HEAD_SHA: ["github.event.pull_request.head.sha", "steps.plan.outputs.head-sha"],
      PLAN_NAME: ["steps.preview.outputs.plan-name", "steps.plan.outputs.plan-name"],
      PLAN_RUN_ID: ["github.run_id", "steps.plan.outputs.run-id"],
      PLAN_SHA256: ["", "steps.plan.outputs.sha256"],
    };
    for (const step of steps) {
      const isApply = /steps\.plan|'apply'/.test(step.if ?? "");
      for (const [name, [preview = "", apply = preview]] of Object.entries(sources))
        if (step.env?.[name] !== undefined)
          assert.equal(step.env[name], `\${{ ${isApply ? apply : preview} }}`, step.run);
    }
    assert.deepEqual(Object.keys(stepsOf("plan-seal.mjs")[0]!.env!).sort(), [
      ...["FORESAIL_PLAN_KEY", "HEAD_SHA", "OUT", "PLAN_NAME", "PLAN_RUN_ID", "PULL_REQUEST", "STACK"],
    ]);
  });

  it("begins each step only after the one that it needs, and comments on a preview that failed", () => {
    const conditions = steps.map((step) => step.if);
    assert.deepEqual(
      [...new Set(conditions)],
      [
        undefined,
        "inputs.command == 'preview'",
        "steps.files.outputs.preview == 'true'",
        "always() && steps.files.outputs.preview == 'true'",
        "inputs.command == 'apply'",
        "steps.plan.outputs.run-id != ''",
      ],
    );
    const [comment] = stepsOf("comment.mjs");
    assert.match(comment!.if!, /^always\(\)/);
    assert.equal(conditions.filter((condition) => condition === undefined).length, 1);
  });

  it("checks a pull request out beside main, not over it, and leaves no token", () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    assert.deepEqual(
      checkouts.map(({ with: inputs }) => [inputs!["ref"], inputs!["path"], inputs!["persist-credentials"]]),
      [
        ["${{ github.event.pull_request.base.ref }}", undefined, false],
        [
          "refs/pull/${{ github.event.pull_request.number }}/merge",
          stepsOf("preview.sh")[0]!.env!["FILES"],
          false,
        ],
        [undefined, undefined, false],
      ],
    );
  });

  it("installs the engine that foresail is tested with", () =>
    assert.equal(ACTION.inputs["pulumi-version"]!.default, PULUMI_VERSION));

  it("describes its inputs, and uses each of them", () => {
    for (const [name, { description }] of Object.entries(ACTION.inputs)) {
      assert.match(description, /\w/);
      assert.match(JSON.stringify(steps), new RegExp(`inputs\\.${name}\\b`));
    }
  });
});

describe("workflows of the examples", () => {
  const jobs = EXAMPLES.flatMap((file) => {
    const workflow = parse(read(file)) as Workflow;
    return Object.entries(workflow.jobs).map(([name, job]) => ({ file, workflow, name, job }));
  });
  const job = (wanted: string) => jobs.find(({ name }) => name === wanted)!.job;

  it("are two: preview and apply", () =>
    assert.deepEqual(jobs.map(({ name }) => name).sort(), ["apply", "preview"]));

  for (const { file, workflow, name, job } of jobs) {
    it(`${file} is one step, the action, with a secret for each of its inputs that is one`, () => {
      assert.equal(job.steps.length, 1);
      const [{ uses, run, with: inputs = {} }] = job.steps as [Step];
      // a name that nobody can have: a reader has to write a commit there
      assert.deepEqual([uses, run], ["<owner>/foresail@<commit>", undefined]);
      for (const [input, { required }] of Object.entries(ACTION.inputs))
        if (required === true) assert.ok(inputs[input], input);
      for (const input of Object.keys(inputs)) assert.ok(ACTION.inputs[input], input);
      assert.deepEqual([inputs["command"], inputs["stack"]], [name, "${{ matrix.stack }}"]);
      assert.equal(inputs["plan-key"], "${{ secrets.FORESAIL_PLAN_KEY }}");
      for (const input of CREDENTIALS)
        if (name === "preview" || input !== "reader-kubeconfig")
          assert.equal(inputs[input], `\${{ secrets.${variableOf(input)} }}`);
      assert.equal(job.env, undefined);
    });

    it(`${file} takes its secrets from an environment`, () =>
      assert.equal(
        job.environment,
        name === "preview" ? "${{ matrix.stack }}-preview" : "${{ matrix.stack }}",
      ));

    it(`${file} has a time limit, one run per stack at once, and no permission by default`, () => {
      assert.ok(job["timeout-minutes"] > 0);
      assert.match(job.concurrency.group, /\$\{\{ matrix\.stack \}\}/);
      assert.deepEqual(workflow.permissions, {});
    });
  }

  it("take the preview's own file from the default branch, whatever a pull request changes", () => {
    const { on } = parse(read("examples/github/workflows/foresail-preview.yaml")) as { on: object };
    assert.deepEqual(on, { pull_request_target: { branches: ["main"] } });
  });

  it("may write comments in one job, and nothing in the other", () => {
    assert.deepEqual(job("preview").permissions, { contents: "read", "pull-requests": "write" });
    assert.deepEqual(job("apply").permissions, {
      contents: "read",
      actions: "read",
      "pull-requests": "read",
    });
  });

  it("cancel a preview that is out of date, and never an apply", () => {
    assert.equal(job("preview").concurrency["cancel-in-progress"], true);
    assert.equal(job("apply").concurrency["cancel-in-progress"], false);
  });
});
