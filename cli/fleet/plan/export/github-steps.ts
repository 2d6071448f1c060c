import { INSTALL } from "./exported";

/** The actions that workflows use: the commit that is pinned, and its version for readers. */
export const ACTIONS = {
  "actions/checkout": ["11bd71901bbe5b1630ceea73d27597364c9af683", "v4.2.2"],
  "actions/setup-node": ["49933ea5288caeca8642d1e84afbd3f7d6820020", "v4.4.0"],
  "pulumi/actions": ["8582a9e8cc630786854029b4e09281acd6794b58", "v6.6.1"],
  "actions/download-artifact": ["d3f86a106a0bac45b974a628896c90dbdf5c8093", "v4.3.0"],
  "actions/upload-artifact": ["ea165f8d65b6e75b540449e92b4886f43607fa02", "v4.6.2"],
} as const;

/** The engine that foresail is tested with. */
export const PULUMI_VERSION = "3.230.0";

const uses = (action: keyof typeof ACTIONS) => `${action}@${ACTIONS[action][0]}`;
const secret = (name: string) => `\${{ secrets.${name} }}`;
const secrets = (...names: string[]) => Object.fromEntries(names.map((name) => [name, secret(name)]));
const script = (name: string) => `${name.endsWith(".mjs") ? "node " : ""}.github/foresail/${name}`;
const BACKEND = [
  ...["PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
];
const SYSTEMS = ["CLOUDS_YAML", "TUMBLEBUG_USERNAME", "TUMBLEBUG_PASSWORD"];
const TOKEN = { GITHUB_TOKEN: "${{ github.token }}" };

const checkout = (inputs: object = {}) => ({
  uses: uses("actions/checkout"),
  with: { ...inputs, "persist-credentials": false },
});
const MAIN = checkout();
const NODE = { uses: uses("actions/setup-node"), with: { "node-version-file": ".nvmrc" } };
const PULUMI = { uses: uses("pulumi/actions"), with: { "pulumi-version": PULUMI_VERSION } };
const BUILD = { run: INSTALL };
/** A workflow that is older than fleet.yaml could skip a gate. */
const UP_TO_DATE = { run: "npx --no-install foresail fleet export github --check .github/workflows" };
const changed = (change: "branch" | "merge" | "all") => ({
  id: "changed",
  run: `${script("changed-stacks.mjs")} ${change}`,
});

const given = (condition: string, steps: readonly object[]) =>
  steps.map((step) => ({ if: condition, ...step }));

/** Checks out main, and beside it what main will be after the merge, and takes the stack files from there. */
const PULL_REQUEST = [
  checkout({ ref: "${{ github.event.pull_request.base.ref }}" }),
  checkout({
    ref: "refs/pull/${{ github.event.pull_request.number }}/merge",
    path: "pull-request",
    "fetch-depth": 2,
  }),
  { id: "files", run: script("take-stack-files.sh") },
];
const HAS_FILES = "steps.files.outputs.preview == 'true'";
const HAS_PLAN = "steps.plan.outputs.run-id != ''";

/** Finds the stacks that a pull request touches. */
export const CHANGED_BY_PULL_REQUEST = [
  ...PULL_REQUEST,
  ...given(HAS_FILES, [NODE, BUILD, UP_TO_DATE, changed("branch")]),
];

/** Previews one stack, keeps the plan for the merge, and what was found for the comment on the fleet. */
export const PREVIEW = [
  ...PULL_REQUEST,
  ...given(HAS_FILES, [
    NODE,
    PULUMI,
    BUILD,
    {
      id: "preview",
      run: script("preview.sh"),
      env: secrets(...BACKEND, "READER_KUBECONFIG", ...SYSTEMS),
    },
    {
      run: `${script("plan-seal.mjs")} write`,
      env: {
        ...secrets("FORESAIL_PLAN_KEY"),
        PLAN_NAME: "${{ steps.preview.outputs.plan-name }}",
        PLAN_RUN_ID: "${{ github.run_id }}",
      },
    },
  ]),
  ...given(`always() && ${HAS_FILES}`, [
    {
      uses: uses("actions/upload-artifact"),
      with: {
        name: "review-${{ env.STACK }}",
        path: "${{ env.OUT }}/preview.json\n${{ env.OUT }}/plan.json\n",
        overwrite: true,
        "retention-days": 30,
      },
    },
  ]),
  ...given(HAS_FILES, [
    {
      uses: uses("actions/upload-artifact"),
      with: {
        name: "${{ steps.preview.outputs.plan-name }}",
        path: "${{ env.OUT }}/plan.json\n${{ env.OUT }}/plan.seal\n",
        "if-no-files-found": "error",
        overwrite: true,
        "retention-days": 30,
      },
    },
  ]),
];

/** Makes one comment of all previews of a pull request, and a page. */
export const COMMENT = [
  ...PULL_REQUEST,
  ...given(HAS_FILES, [
    NODE,
    BUILD,
    {
      uses: uses("actions/download-artifact"),
      with: { pattern: "review-*", path: "${{ env.REVIEWS }}" },
    },
    { run: script("fleet-comment.sh") },
    {
      run: script("comment.mjs"),
      env: TOKEN,
    },
    {
      uses: uses("actions/upload-artifact"),
      with: {
        name: "foresail-page",
        path: "${{ env.OUT }}/page.html",
        overwrite: true,
        "retention-days": 30,
      },
    },
  ]),
];

/** Finds the stacks that the merged pull request touched. */
export const CHANGED_BY_MERGE = [MAIN, NODE, BUILD, UP_TO_DATE, { ...changed("merge"), env: TOKEN }];

/** Applies the reviewed plan of one stack. */
export const APPLY = [
  MAIN,
  NODE,
  { id: "plan", run: script("find-plan.mjs"), env: TOKEN },
  ...given(HAS_PLAN, [
    PULUMI,
    BUILD,
    {
      uses: uses("actions/download-artifact"),
      with: {
        name: "${{ steps.plan.outputs.plan-name }}",
        "run-id": "${{ steps.plan.outputs.run-id }}",
        "github-token": "${{ github.token }}",
        path: "${{ env.OUT }}",
      },
    },
    {
      run: `${script("plan-seal.mjs")} check`,
      env: {
        ...secrets("FORESAIL_PLAN_KEY"),
        PULL_REQUEST: "${{ steps.plan.outputs.pull-request }}",
        HEAD_SHA: "${{ steps.plan.outputs.head-sha }}",
        PLAN_NAME: "${{ steps.plan.outputs.plan-name }}",
        PLAN_RUN_ID: "${{ steps.plan.outputs.run-id }}",
      },
    },
    {
      run: script("apply.sh"),
      env: { PLAN_SHA256: "${{ steps.plan.outputs.sha256 }}", ...secrets(...BACKEND, ...SYSTEMS) },
    },
  ]),
];

/** Checks the gate of the wave $WAVE. */
export const GATE = [
  MAIN,
  NODE,
  PULUMI,
  BUILD,
  { run: 'npx --no-install foresail fleet gate --wave "$WAVE"', env: secrets(...BACKEND) },
];

/** Lists all stacks. */
export const ALL_STACKS = [MAIN, NODE, BUILD, UP_TO_DATE, changed("all")];

/** Looks for drift on one stack, and opens, updates or closes its issue. */
export const DRIFT_STEPS = [
  MAIN,
  NODE,
  PULUMI,
  BUILD,
  { id: "drift", run: script("drift.sh"), env: secrets(...BACKEND) },
  { run: script("drift-issue.mjs"), env: TOKEN },
];
