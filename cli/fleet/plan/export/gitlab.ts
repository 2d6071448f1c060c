import { quoted } from "../../../../lib/text/quote";
import type { StackFiles } from "../changed";
import { type Fleet, stacksOf, type Wave } from "../fleet";
import { type ExportedFile, hasApproval, hasChecks, INSTALL, refuseNames, writtenBy } from "./exported";

const FILE = "foresail.gitlab-ci.yml";
const OUT = "foresail-review";
const ON_MERGE_REQUEST = '$CI_PIPELINE_SOURCE == "merge_request_event"';
const ON_MAIN = '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH';
/**
 * A preview of a merge request is a pipeline of the default branch, which a person begins who may run those: the pipeline of
 * the merge request itself is what its branch says, and would have whatever the preview has.
 */
const ON_REQUEST =
  "$CI_PIPELINE_SOURCE =~ /^(web|api)$/ && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH" +
  ' && $CI_COMMIT_REF_PROTECTED == "true" && $MERGE_REQUEST_COMMIT =~ /^[0-9a-f]{40}$/';
const AT_NIGHT = '$CI_PIPELINE_SOURCE == "schedule"';
const script = (name: string) => `.gitlab/foresail/${name}.sh`;
/** GitLab accepts no longer list of paths in a rule. */
const MOST_PATHS = 50;

/** The jobs of the file take what they have in common from these. */
const TEMPLATES = {
  // an image of one's own with git, Node.js and the engine
  ".foresail": { image: "$FORESAIL_IMAGE", variables: { OUT, GIT_DEPTH: "0" } },
  ".foresail-preview": {
    extends: ".foresail",
    stage: "preview",
    interruptible: true,
    variables: { FILES: "pull-request", POLICY_PACK: "policy", GENERATED: `.gitlab/${FILE}` },
    script: [
      // beside the default branch, what it will be after the merge
      'git fetch --quiet origin "$MERGE_REQUEST_COMMIT"',
      'rm -rf -- "$FILES"',
      'git worktree add --quiet --force --detach "$FILES" HEAD',
      'git -C "$FILES" -c user.name=foresail -c user.email=foresail@localhost merge --quiet --no-ff --message merge "$MERGE_REQUEST_COMMIT"',
      script("take-stack-files"),
      INSTALL,
      "touched=$(npx --no-install foresail fleet changed --since HEAD)",
      `if grep --quiet --line-regexp --fixed-strings -- "$STACK" <<<"$touched"; then ${script("preview")}; else echo "it does not touch $STACK"; fi`,
    ],
    artifacts: { when: "always", paths: [`${OUT}/comment.md`], expire_in: "30 days", access: "developer" },
  },
  ".foresail-plan": {
    extends: ".foresail",
    stage: "plan",
    variables: { POLICY_PACK: "policy" },
    script: [
      INSTALL,
      script("preview"),
      'cat "$OUT/comment.md"',
      'echo "PLAN_SHA256=$(sha256sum <"$OUT/plan.json" | cut -d " " -f 1)" >"$OUT/plan.env"',
    ],
    artifacts: {
      paths: [`${OUT}/plan.json`, `${OUT}/comment.md`],
      reports: { dotenv: `${OUT}/plan.env` },
      expire_in: "30 days",
      access: "developer",
    },
  },
  ".foresail-apply": { extends: ".foresail", timeout: "6 hours", script: [INSTALL, script("apply")] },
  ".foresail-gate": {
    extends: ".foresail",
    dependencies: [],
    script: [INSTALL, 'npx --no-install foresail fleet gate --wave "$WAVE"'],
  },
  ".foresail-approval": {
    image: "$FORESAIL_IMAGE",
    variables: { GIT_STRATEGY: "none" },
    dependencies: [],
    script: ["echo approved"],
  },
};

/** Returns the rules of a job that runs when one of these stacks is touched. */
type RulesFor = (when: string, stacks: readonly string[], more?: object) => object;

/**
 * Returns a pipeline that previews merge requests, and on the default branch plans the touched stacks, asks for a review of
 * the plans and applies them in waves. A stage begins when the one before has succeeded, so the stages are the order.
 */
export function gitlabPipeline(fleet: Fleet, files: StackFiles): ExportedFile {
  refuseNames(fleet);
  const rulesFor: RulesFor = (when, stacks, more = {}) => ({
    rules: [{ if: when, changes: pathsOf(files, stacks), ...more }],
  });
  const all = stacksOf(fleet);
  const jobs = [
    ...all.flatMap((stack) => stackJobs(stack, rulesFor)),
    ["review plans", approval("review", "fleet-review", rulesFor(ON_MAIN, all, BY_HAND))] as const,
    ...fleet.waves.flatMap((wave) => waveJobs(wave, fleet, rulesFor)),
  ];
  const stages = [
    ...["check", "preview", "plan", "review"],
    ...fleet.waves.flatMap((wave) => Object.values(stagesOf(wave))),
    "drift",
  ];
  return {
    name: FILE,
    comment: `Previews merge requests, and applies the touched stacks in waves on the default branch.\n${writtenBy("gitlab")}`,
    documents: [{ stages, ...TEMPLATES, "fleet is current": CURRENT, ...Object.fromEntries(jobs) }],
  };
}

/** A pipeline that is older than fleet.yaml could skip a gate. */
const CURRENT = {
  extends: ".foresail",
  stage: "check",
  rules: [{ if: ON_MERGE_REQUEST }, { if: ON_MAIN }],
  script: [INSTALL, "npx --no-install foresail fleet export gitlab --check .gitlab"],
};

const BY_HAND = { when: "manual", allow_failure: false };

const approval = (stage: string, environment: string, rules: object) => ({
  extends: ".foresail-approval",
  stage,
  environment: { name: environment },
  ...rules,
});

/** Returns the stages of a wave, in their order. */
const stagesOf = (wave: Wave) => ({
  apply: `wave-${wave.name}`,
  ...(hasChecks(wave) && { gate: `gate-${wave.name}` }),
  ...(hasApproval(wave) && { approve: `approve-${wave.name}` }),
});

/** Returns the jobs of a stack that change nothing. */
function stackJobs(stack: string, rulesFor: RulesFor): [string, object][] {
  const reads = (end: string) => ({
    variables: { STACK: stack },
    environment: { name: `${stack}-${end}`, action: "access" },
  });
  const drift = {
    extends: ".foresail",
    stage: "drift",
    ...reads("drift"),
    rules: [{ if: AT_NIGHT }],
    script: [INSTALL, script("drift"), "node .gitlab/foresail/drift-issue.mjs"],
  };
  return [
    [
      `preview ${stack}`,
      // what changes in the merge request is found by the job: this pipeline has no change of its own
      { extends: ".foresail-preview", ...reads("preview"), rules: [{ if: ON_REQUEST }] },
    ],
    [`plan ${stack}`, { extends: ".foresail-plan", ...reads("preview"), ...rulesFor(ON_MAIN, [stack]) }],
    [`drift ${stack}`, drift],
  ];
}

/** Returns the jobs that apply the stacks of a wave, check its gate, and ask for its approval. */
function waveJobs(wave: Wave, { onFailure, maxParallel }: Fleet, rulesFor: RulesFor): [string, object][] {
  const { name, stacks, gate } = wave;
  const stages = stagesOf(wave);
  const jobs = stacks.map((stack, place): [string, object] => [
    `apply ${stack}`,
    {
      extends: ".foresail-apply",
      stage: stages.apply,
      variables: { STACK: stack, WAVE: name },
      environment: { name: stack },
      // one job of a group runs at a time, in whatever pipeline, so there are as many groups as stacks may run at once
      resource_group: `foresail-slot-${place % maxParallel}`,
      dependencies: [`plan ${stack}`],
      // the next stage begins although the job has failed
      ...(onFailure === "continue" && { allow_failure: true }),
      ...rulesFor(ON_MAIN, [stack]),
    },
  ]);
  if (stages.gate !== undefined)
    jobs.push([
      `gate ${name}`,
      {
        extends: ".foresail-gate",
        stage: stages.gate,
        variables: { WAVE: name },
        environment: { name: `${name}-gate`, action: "access" },
        timeout: `${Math.ceil((gate?.soakSeconds ?? 0) / 60) + 360} minutes`,
        ...rulesFor(ON_MAIN, stacks),
      },
    ]);
  if (stages.approve !== undefined)
    jobs.push([
      `approve ${name}`,
      approval(stages.approve, `${name}-approval`, rulesFor(ON_MAIN, stacks, BY_HAND)),
    ]);
  return jobs;
}

/**
 * Returns the files that touch stacks: their own and their layers; all stack files when that would be too many.
 *
 * @throws Error when a path is not plain text, since GitLab replaces variables and patterns in it
 */
function pathsOf({ folder, layerOf }: StackFiles, stacks: readonly string[]): string[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const layers = new Set(stacks.flatMap((stack) => layerOf[stack] ?? []));
  const paths = [
    ...stacks.map((stack) => `${prefix}Pulumi.${stack}.yaml`),
    ...[...layers].map((layer) => `${prefix}layers/${layer}.yaml`),
  ];
  const odd = paths.find((path) => !/^[A-Za-z0-9_./-]+$/.test(path));
  if (odd !== undefined)
    throw new Error(
      `${quoted(odd)} can't be exported: only paths of letters, digits, "-", "_", "." and "/" can; rename the file`,
    );
  return paths.length > MOST_PATHS ? [`${prefix}Pulumi.*.yaml`, `${prefix}layers/*.yaml`] : paths;
}
