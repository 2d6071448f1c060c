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
        readonly env: Readonly<Record<string, string>>;
        readonly steps: readonly Step[];
      }
    >
  >;
}

const FILES = filesBelow("examples/github/workflows", ".yaml");
const SCRIPT = /\.github\/foresail\/[\w.-]+/;

describe("workflows of the examples", () => {
  const jobs = FILES.flatMap((file) => {
    const workflow = parse(read(file)) as Workflow;
    return Object.entries(workflow.jobs).map(([name, job]) => ({ file, workflow, name, job }));
  });
  const job = (wanted: string) => jobs.find(({ name }) => name === wanted)!.job;

  it("are two: preview and apply", () =>
    assert.deepEqual(jobs.map(({ name }) => name).sort(), ["apply", "preview"]));

  for (const { file, workflow, job } of jobs) {
    it(`${file} takes actions by their full version only`, () => {
      for (const { uses } of job.steps)
        if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@v\d+\.\d+\.\d+$/);
    });

    it(`${file} runs only scripts that are there and may be run`, () => {
      for (const { run } of job.steps) {
        const script = SCRIPT.exec(run ?? "")?.[0];
        if (script === undefined) continue;
        const own = path.join(PROJECT, "examples/github/foresail", path.basename(script));
        accessSync(own, script.endsWith(".sh") ? constants.X_OK : constants.R_OK);
      }
    });

    it(`${file} puts nothing that others write into a command line`, () => {
      for (const { run = "" } of job.steps) assert.equal(run.includes("${{"), false, run);
    });

    it(`${file} gives secrets only to the step that runs foresail`, () => {
      for (const { run = "", env = {}, with: inputs = {} } of job.steps) {
        const values = JSON.stringify([env, inputs]);
        if (values.includes("secrets.")) assert.match(run, /(?:preview|apply)\.sh$/);
      }
      assert.equal(JSON.stringify(job.env).includes("secrets."), false);
    });

    it(`${file} has a limit, one run a stack at once, and the engine that foresail is tested with`, () => {
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
      const checkout = job.steps.find(({ uses }) => uses?.startsWith("actions/checkout@"));
      assert.equal(checkout?.with?.["persist-credentials"], false);
    });
  }

  it("may write comments in one job, and nothing in the other", () => {
    assert.deepEqual(job("preview").permissions, { contents: "read", "pull-requests": "write" });
    assert.deepEqual(job("apply").permissions, { contents: "read", actions: "read" });
  });

  it("cancel a preview that is out of date, and never an apply", () => {
    assert.equal(job("preview").concurrency["cancel-in-progress"], true);
    assert.equal(job("apply").concurrency["cancel-in-progress"], false);
  });
});
