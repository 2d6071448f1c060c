import assert from "node:assert/strict";
import fc from "fast-check";
import type { StackFiles } from "../../../../../cli/fleet/plan/changed";
import { gitlabPipeline } from "../../../../../cli/fleet/plan/export/gitlab";
import type { Fleet } from "../../../../../cli/fleet/plan/fleet";
import { assertForm, fleetNamed, fleets, hostileNames, schemaNamed } from "./fleets";

interface Job {
  readonly stage?: string;
  readonly extends?: string;
  readonly script?: readonly string[];
  readonly rules?: readonly {
    readonly if: string;
    readonly changes?: readonly string[];
    readonly when?: string;
    readonly allow_failure?: boolean;
  }[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly environment?: { readonly name: string };
  readonly dependencies?: readonly string[];
  readonly needs?: unknown;
  readonly resource_group?: string;
  readonly allow_failure?: boolean;
}

const FILES: StackFiles = { folder: "stacks/config", layerOf: { "prod-eu1": "prod", "prod-us1": undefined } };

const pipelineOf = (fleet: Fleet, files = FILES) => {
  const { stages, ...jobs } = gitlabPipeline(fleet, files).documents[0] as { stages: string[] } & Record<
    string,
    Job
  >;
  return { stages, jobs: jobs as Record<string, Job> };
};

describe("the pipeline for GitLab", function () {
  this.timeout(120_000);

  it("has the form of GitLab's schema, whatever fleet.yaml says, and is read as it was meant", () => {
    assertForm(schemaNamed("gitlab-ci.json"), (fleet) => [gitlabPipeline(fleet, FILES)]);
  });

  it("has the order of the waves and their gates as stages, after the plans and their review", () =>
    fc.assert(
      fc.property(fleets, (fleet) => {
        const { stages, jobs } = pipelineOf(fleet);
        const at = (name: string) => {
          const { stage, extends: template = "" } = jobs[name]!;
          const place = stages.indexOf(stage ?? jobs[template]!.stage!);
          assert.notEqual(place, -1, name);
          return place;
        };
        let last = at("review plans");
        for (const { name, stacks, gate } of fleet.waves) {
          for (const stack of stacks) {
            assert.ok(
              at(`preview ${stack}`) < at(`plan ${stack}`) && at(`plan ${stack}`) < at("review plans"),
            );
            assert.ok(at(`apply ${stack}`) > last, stack);
          }
          last = at(`apply ${stacks[0]}`);
          assert.deepEqual(new Set(stacks.map((stack) => at(`apply ${stack}`))), new Set([last]));
          for (const job of [`gate ${name}`, `approve ${name}`])
            if (jobs[job] !== undefined) {
              assert.ok(at(job) > last, job);
              last = at(job);
            }
          assert.equal(jobs[`approve ${name}`] !== undefined, gate?.approval === true);
        }
        // needs would let a job begin before its stage
        for (const job of Object.values(jobs)) assert.equal(job.needs, undefined);
        assert.equal(new Set(stages).size, stages.length);
      }),
      { numRuns: 100 },
    ));

  it("waits for a person at the review and at approvals, and lets a wave go on after a failure only with `continue`", () =>
    fc.assert(
      fc.property(fleets, (fleet) => {
        for (const [name, job] of Object.entries(pipelineOf(fleet).jobs)) {
          const isByHand = name === "review plans" || name.startsWith("approve ");
          const { when, allow_failure } = job.rules?.[0] ?? {};
          assert.deepEqual(
            [when, allow_failure],
            isByHand ? ["manual", false] : [undefined, undefined],
            name,
          );
          const mayFail = fleet.onFailure === "continue" && name.startsWith("apply ");
          assert.equal(job.allow_failure, mayFail ? true : undefined, name);
        }
      }),
      { numRuns: 50 },
    ));

  it("runs the jobs of a stack when its file or its layer has changed, one apply at a time, with its own plan", () => {
    const { jobs } = pipelineOf(fleetNamed("prod-eu1", "canary"));
    const changes = ["stacks/config/Pulumi.prod-eu1.yaml", "stacks/config/layers/prod.yaml"];
    for (const name of ["plan prod-eu1", "review plans", "apply prod-eu1"])
      assert.deepEqual(jobs[name]!.rules![0]!.changes, changes, name);
    const { resource_group, dependencies, environment, variables } = jobs["apply prod-eu1"]!;
    assert.deepEqual(
      { resource_group, dependencies, environment, variables },
      {
        resource_group: "foresail-slot-0",
        dependencies: ["plan prod-eu1"],
        environment: { name: "prod-eu1" },
        variables: { STACK: "prod-eu1", WAVE: "canary" },
      },
    );
    assert.deepEqual(pipelineOf(fleetNamed("prod-us1", "canary")).jobs["plan prod-us1"]!.rules![0]!.changes, [
      "stacks/config/Pulumi.prod-us1.yaml",
    ]);
  });

  it("gives no job of a merge request's own pipeline an environment, and so none of the secrets", () =>
    fc.assert(
      fc.property(fleets, (fleet) => {
        for (const [name, { rules = [], environment }] of Object.entries(pipelineOf(fleet).jobs))
          for (const { if: condition } of rules) {
            if (condition.includes("merge_request_event")) assert.equal(environment, undefined, name);
            if (name.startsWith("preview ")) {
              assert.match(condition, /\$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH/);
              assert.match(condition, /\$CI_COMMIT_REF_PROTECTED == "true"/);
            }
          }
      }),
      { numRuns: 50 },
    ));

  it("changes at most maxParallel stacks at once, as evenly as they can be divided", () =>
    fc.assert(
      fc.property(fleets, (fleet) => {
        const { jobs } = pipelineOf(fleet);
        const groupsOf = (stacks: readonly string[]) =>
          stacks.map((stack) => jobs[`apply ${stack}`]!.resource_group!);
        const all = new Set(fleet.waves.flatMap(({ stacks }) => groupsOf(stacks)));
        assert.ok(all.size <= fleet.maxParallel);
        for (const { stacks } of fleet.waves) {
          const groups = groupsOf(stacks);
          const slots = [...new Set(groups)];
          assert.equal(slots.length, Math.min(stacks.length, fleet.maxParallel));
          const sizes = slots.map((slot) => groups.filter((one) => one === slot).length);
          assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
        }
      }),
      { numRuns: 100 },
    ));

  it("has no longer list of paths than GitLab accepts", () => {
    const stacks = Array.from({ length: 60 }, (_, at) => `s${at}`);
    const fleet: Fleet = {
      maxParallel: 2,
      onFailure: "stop",
      waves: [{ name: "all", stacks, gate: { nodesReady: true, approval: false, commandSeconds: 600 } }],
    };
    const { jobs } = pipelineOf(fleet);
    assert.deepEqual(jobs["gate all"]!.rules![0]!.changes, [
      "stacks/config/Pulumi.*.yaml",
      "stacks/config/layers/*.yaml",
    ]);
  });

  it("runs the same commands for every fleet", () => {
    const commands = (fleet: Fleet) =>
      new Set(Object.values(pipelineOf(fleet).jobs).flatMap(({ script = [] }) => script));
    const fixed = commands(fleetNamed("prod", "canary"));
    fc.assert(
      fc.property(fleets, (fleet) => commands(fleet).forEach((one) => assert.ok(fixed.has(one), one))),
      { numRuns: 20 },
    );
  });

  it("refuses names and paths that are not plain text", () =>
    fc.assert(
      fc.property(hostileNames, (name) => {
        assert.throws(
          () => gitlabPipeline(fleetNamed(name, "canary"), FILES),
          /can't be exported: only names/,
        );
        assert.throws(() => gitlabPipeline(fleetNamed("prod", name), FILES), /can't be exported: only names/);
        const isPlain = /^[A-Za-z0-9_./-]*$/.test(name);
        const files = { folder: name, layerOf: {} };
        if (!isPlain)
          assert.throws(
            () => gitlabPipeline(fleetNamed("prod", "canary"), files),
            /can't be exported: only paths/,
          );
        const layered = { folder: "", layerOf: { prod: name } };
        if (!isPlain)
          assert.throws(
            () => gitlabPipeline(fleetNamed("prod", "canary"), layered),
            /can't be exported: only paths/,
          );
      }),
    ));
});
