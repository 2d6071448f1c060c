import assert from "node:assert/strict";
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { filesBelow, PROJECT, read } from "./project";

interface Step {
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
        readonly env: Readonly<Record<string, string>>;
        readonly steps: readonly Step[];
      }
    >
  >;
}

const FILES = filesBelow("examples/github/workflows", ".yaml");
/** What the backend and each system read credentials from. */
const CREDENTIALS = [
  "PULUMI_BACKEND_URL",
  "PULUMI_CONFIG_PASSPHRASE",
  "CLOUDS_YAML",
  "TUMBLEBUG_USERNAME",
  "TUMBLEBUG_PASSWORD",
];
const SCRIPT = /\.github\/foresail\/[\w.-]+/;

describe("workflows of the examples", () => {
  const jobs = FILES.flatMap((file) => {
    const workflow = parse(read(file)) as Workflow;
    return Object.entries(workflow.jobs).map(([name, job]) => ({ file, workflow, name, job }));
  });
  const job = (wanted: string) => jobs.find(({ name }) => name === wanted)!.job;

  it("are two: preview and apply", () =>
    assert.deepEqual(jobs.map(({ name }) => name).sort(), ["apply", "preview"]));

  for (const { file, workflow, name, job } of jobs) {
    it(`${file} pins actions to a commit, and names its version`, () => {
      const uses = read(file).match(/uses: .*/g) ?? [];
      assert.equal(uses.length, job.steps.filter(({ uses }) => uses !== undefined).length);
      for (const line of uses) assert.match(line, /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    });

    it(`${file} runs its scripts, which exist and are executable`, () => {
      const scripts = job.steps.flatMap(({ run }) => SCRIPT.exec(run ?? "")?.[0] ?? []);
      assert.equal(scripts.length, name === "preview" ? 4 : 3, scripts.join());
      for (const script of scripts) {
        const own = path.join(PROJECT, "examples/github/foresail", path.basename(script));
        accessSync(own, script.endsWith(".sh") ? constants.X_OK : constants.R_OK);
      }
    });

    it(`${file} runs no install script of a dependency`, () => {
      const installs = job.steps.flatMap(({ run = "" }) => (run.includes("npm ci") ? run : []));
      assert.deepEqual(installs, ["npm ci --ignore-scripts && npm run build"]);
    });

    it(`${file} takes its secrets from an environment`, () =>
      assert.equal(
        job.environment,
        name === "preview" ? "${{ matrix.stack }}-preview" : "${{ matrix.stack }}",
      ));

    it(`${file} puts no text of others into a command line`, () => {
      for (const { run = "" } of job.steps) assert.equal(run.includes("${{"), false, run);
    });

    it(`${file} gives secrets only to the step that runs foresail`, () => {
      for (const { run = "", env = {}, with: inputs = {} } of job.steps) {
        const values = JSON.stringify([env, inputs]);
        const isForesail = /(?:preview|apply)\.sh$/.test(run);
        const isSeal = run.includes("plan-seal.mjs");
        assert.equal(values.includes("secrets."), isForesail || isSeal, run);
        // what the stack's secrets could be used for never runs beside the key
        assert.deepEqual(values.match(/secrets\.FORESAIL_PLAN_KEY/g)?.length, isSeal ? 1 : undefined, run);
        if (isSeal) assert.equal(values.match(/secrets\./g)!.length, 1);
        if (isForesail)
          for (const name of CREDENTIALS) assert.equal(env[name], `\${{ secrets.${name} }}`, name);
      }
      assert.equal(JSON.stringify(job.env).includes("secrets."), false);
    });

    it(`${file} has a time limit, one run per stack at once, and the engine that foresail is tested with`, () => {
      assert.ok(job["timeout-minutes"] > 0);
      assert.match(job.concurrency.group, /\$\{\{ matrix\.stack \}\}/);
      const { devDependencies } = JSON.parse(read("package.json")) as {
        devDependencies: Record<string, string>;
      };
      const versions = job.steps.flatMap(({ with: inputs }) => inputs?.["pulumi-version"] ?? []);
      assert.deepEqual(versions, [devDependencies["@pulumi/pulumi"]]);
    });

    it(`${file} has no permission by default, and leaves no token in the checkout`, () => {
      assert.deepEqual(workflow.permissions, {});
      const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
      assert.equal(checkouts.length, name === "preview" ? 2 : 1);
      for (const { with: inputs } of checkouts) assert.equal(inputs?.["persist-credentials"], false);
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

  it("check a pull request out beside main, not over it", () => {
    const checkouts = job("preview").steps.flatMap(({ uses = "", with: inputs = {} }) =>
      uses.startsWith("actions/checkout@") ? [inputs] : [],
    );
    assert.deepEqual(
      checkouts.map(({ ref, path: folder }) => ({ ref, folder })),
      [
        { ref: "${{ github.event.pull_request.base.ref }}", folder: undefined },
        {
          ref: "refs/pull/${{ github.event.pull_request.number }}/merge",
          folder: job("preview").env["FILES"],
        },
      ],
    );
  });

  it("cancel a preview that is out of date, and never an apply", () => {
    assert.equal(job("preview").concurrency["cancel-in-progress"], true);
    assert.equal(job("apply").concurrency["cancel-in-progress"], false);
  });
});
