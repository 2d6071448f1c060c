import type { Fleet, Wave } from "../fleet";
import { type ExportedFile, hasApproval, hasChecks, refuseNames, writtenBy } from "./exported";
import {
  ALL_STACKS,
  APPLY,
  COMMENT,
  CHANGED_BY_MERGE,
  CHANGED_BY_PULL_REQUEST,
  DRIFT_STEPS,
  GATE,
  PREVIEW,
} from "./github-steps";

const READ = { contents: "read" } as const;
const STACK = "${{ matrix.stack }}";
const ON_MAIN = "github.ref == 'refs/heads/main'";
/** A fork has none of the secrets. */
const OWN_BRANCH = "github.event.pull_request.head.repo.full_name == github.repository";
const HAS_STACKS = "needs['changed'].outputs['stacks'] != '' && needs['changed'].outputs['stacks'] != '[]'";
/** What scripts need of the pull request that is previewed. */
const PULL_REQUEST = {
  FILES: "pull-request",
  PULL_REQUEST: "${{ github.event.pull_request.number }}",
  HEAD_SHA: "${{ github.event.pull_request.head.sha }}",
};
/** The longest job of GitHub's own runners, in minutes. */
const LONGEST_MINUTES = 360;

/** The runner is a variable of the repository, since most sites need one that reaches their machines. */
const job = (minutes: number, more: object) => ({
  "runs-on": "${{ vars.FORESAIL_RUNNER || 'ubuntu-24.04' }}",
  "timeout-minutes": minutes,
  ...more,
});

const stacksFrom = (output: string, { maxParallel }: Fleet) => ({
  strategy: {
    "fail-fast": false,
    "max-parallel": maxParallel,
    matrix: { stack: `\${{ fromJSON(${output}) }}` },
  },
});

/**
 * Returns workflows that preview pull requests, apply the reviewed plans in waves, and look for drift at night. They
 * depend on the waves only: the stacks of each are found when they run.
 */
export function githubWorkflows(fleet: Fleet): ExportedFile[] {
  refuseNames(fleet);
  const file = (name: string, what: string, workflow: object): ExportedFile => ({
    name: `foresail-${name}.yaml`,
    comment: `${what}\n${writtenBy("github")}`,
    documents: [{ name: `foresail ${name}`, ...workflow }],
  });
  return [
    file("preview", "Previews the stacks that a pull request touches.", {
      // takes this file from the default branch, whatever the pull request changes
      on: { pull_request_target: { branches: ["main"] } },
      permissions: {},
      jobs: previewJobs(fleet),
    }),
    file("apply", "Does on main what was reviewed, wave by wave, and nothing else.", {
      on: { push: { branches: ["main"] }, workflow_dispatch: {} },
      permissions: {},
      jobs: {
        changed: job(20, {
          if: ON_MAIN,
          permissions: { ...READ, "pull-requests": "read" },
          outputs: Object.fromEntries(
            fleet.waves.map(({ name }) => [waveJob(name), `\${{ steps.changed.outputs.${waveJob(name)} }}`]),
          ),
          steps: CHANGED_BY_MERGE,
        }),
        ...Object.fromEntries(fleet.waves.flatMap((wave, at) => jobsOf(wave, at, fleet))),
      },
    }),
    file("drift", "Opens an issue for each stack with files on machines that others changed.", {
      on: { schedule: [{ cron: "17 3 * * *" }], workflow_dispatch: {} },
      permissions: {},
      jobs: driftJobs(fleet),
    }),
  ];
}

function previewJobs(fleet: Fleet): object {
  return {
    changed: job(20, {
      if: OWN_BRANCH,
      permissions: READ,
      outputs: { stacks: "${{ steps.changed.outputs.stacks }}" },
      env: PULL_REQUEST,
      steps: CHANGED_BY_PULL_REQUEST,
    }),
    preview: job(20, {
      needs: ["changed"],
      if: `${OWN_BRANCH} && ${HAS_STACKS}`,
      permissions: READ,
      ...stacksFrom("needs['changed'].outputs['stacks']", fleet),
      concurrency: {
        group: `foresail-preview-${STACK}-\${{ github.event.pull_request.number }}`,
        "cancel-in-progress": true,
      },
      environment: `${STACK}-preview`,
      env: { STACK, OUT: "foresail-review", ...PULL_REQUEST, POLICY_PACK: "policy" },
      steps: PREVIEW,
    }),
    // also when previews have failed: the comment says so
    comment: job(20, {
      needs: ["changed", "preview"],
      if: `!cancelled() && ${OWN_BRANCH} && ${HAS_STACKS}`,
      permissions: { ...READ, "pull-requests": "write" },
      concurrency: {
        group: "foresail-comment-${{ github.event.pull_request.number }}",
        "cancel-in-progress": true,
      },
      env: {
        OUT: "foresail-review",
        REVIEWS: "foresail-reviews",
        ...PULL_REQUEST,
        STACKS: "${{ needs['changed'].outputs['stacks'] }}",
      },
      steps: COMMENT,
    }),
  };
}

function driftJobs(fleet: Fleet): object {
  return {
    stacks: job(20, {
      if: ON_MAIN,
      permissions: READ,
      outputs: { stacks: "${{ steps.changed.outputs.stacks }}" },
      steps: ALL_STACKS,
    }),
    drift: job(60, {
      needs: ["stacks"],
      permissions: { ...READ, issues: "write" },
      ...stacksFrom("needs['stacks'].outputs['stacks']", fleet),
      environment: `${STACK}-drift`,
      env: { STACK, OUT: "foresail-review" },
      steps: DRIFT_STEPS,
    }),
  };
}

const waveJob = (wave: string) => `wave-${wave}`;
const gateJob = (wave: string) => `gate-${wave}`;
const approvalJob = (wave: string) => `approve-${wave}`;

/** The jobs after which a wave's successors may begin; with `continue` a stack that failed stops nothing, a gate does. */
const gateJobs = (wave: Wave): string[] => [
  ...(hasChecks(wave) ? [gateJob(wave.name)] : []),
  ...(hasApproval(wave) ? [approvalJob(wave.name)] : []),
];

/** Returns the jobs of a wave: its stacks, the checks of its gate, a person's approval. */
function jobsOf(wave: Wave, at: number, fleet: Fleet): [string, object][] {
  const earlier = fleet.waves
    .slice(0, at)
    .flatMap(({ name, ...rest }) => [waveJob(name), ...gateJobs({ name, ...rest })]);
  const name = waveJob(wave.name);
  const gates = gateJobs(wave);
  const isGate = (one: string) => !one.startsWith("wave-");
  const follows = (jobs: readonly string[]) => ({
    needs: ["changed", ...jobs],
    if:
      [
        "${{ !cancelled()",
        "needs['changed'].result == 'success'",
        `needs['changed'].outputs['${name}'] != '[]'`,
        ...jobs.filter((one) => fleet.onFailure === "stop" || isGate(one)).map(didNotFail),
      ].join(" && ") + " }}",
  });
  const jobs: [string, object][] = [[name, applyJob(wave, follows(earlier), fleet)]];
  for (const [index, gate] of gates.entries()) {
    const order = follows([...earlier, name, ...gates.slice(0, index)]);
    jobs.push([gate, gate === gateJob(wave.name) ? checkJob(wave, order) : approval(wave, order)]);
  }
  return jobs;
}

const didNotFail = (name: string) =>
  `(needs['${name}'].result == 'success' || needs['${name}'].result == 'skipped')`;

const applyJob = ({ name }: Wave, order: object, fleet: Fleet) =>
  job(LONGEST_MINUTES, {
    ...order,
    permissions: { ...READ, actions: "read", "pull-requests": "read" },
    ...stacksFrom(`needs['changed'].outputs['${waveJob(name)}']`, fleet),
    concurrency: { group: `foresail-apply-${STACK}`, "cancel-in-progress": false },
    environment: STACK,
    env: { STACK, OUT: "foresail-review", WAVE: name, COMMENT: "fleet" },
    steps: APPLY,
  });

/** GitHub ends a longer soak than its own runners allow; runners of one's own may run for five days. */
const checkJob = ({ name, gate }: Wave, order: object) =>
  job(Math.max(LONGEST_MINUTES, Math.ceil((gate?.soakSeconds ?? 0) / 60) + LONGEST_MINUTES), {
    ...order,
    permissions: READ,
    environment: `${name}-gate`,
    env: { WAVE: name },
    steps: GATE,
  });

/** The job begins when the reviewers of its environment have approved. */
const approval = ({ name }: Wave, order: object) =>
  job(5, {
    ...order,
    permissions: {},
    environment: `${name}-approval`,
    steps: [{ run: "echo approved" }],
  });
