import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gitlabPipeline } from "../../../cli/fleet/plan/export/gitlab";
import { projectFolder } from "../../../sandbox/paths";

interface Template {
  readonly variables?: Readonly<Record<string, string>>;
  readonly script: readonly string[];
}

/** Writes its arguments, a plan, a preview, a comment and what drifted. */
const STAND_IN = `#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
case $1 in
  preview) cat stacks/config/Pulumi.prod-eu1.yaml >"$5"; echo "{}" >"$7" ;;
  report) echo "the comment" ;;
  drift)
    if [ -z "\${DRIFT:-}" ]; then echo '{"machines":[{"node":"w-1"}]}'; exit 0; fi
    echo '{"machines":[{"node":"w-1","files":[{"path":"/etc/a","difference":"changed","diff":"-secret of the file"}]}]}'
    exit 10
    ;;
esac
`;
const STACK_FILE = "stacks/config/Pulumi.prod-eu1.yaml";

describe("the jobs of the pipeline for GitLab", function () {
  this.timeout(60_000);
  let folder: string;
  const clone = () => path.join(folder, "clone");
  const calls = () => readFileSync(path.join(folder, "calls"), "utf8").trim().split("\n");
  const fleet = {
    maxParallel: 2,
    onFailure: "stop",
    waves: [{ name: "canary", stacks: ["prod-eu1"] }],
  } as const;
  const files = { folder: "stacks/config", layerOf: {} };
  const pipeline = gitlabPipeline(fleet, files).documents[0] as Record<string, Template>;

  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: "pipe",
    }).trim();
  const origin = (...args: string[]) => gitIn(path.join(folder, "origin"), ...args);
  const write = (name: string, text: string) => writeFileSync(path.join(folder, "origin", name), text);
  const commit = () => {
    origin("add", "--all");
    origin("commit", "--quiet", "--message", "Change");
  };
  const branch = (name: string, change: () => void) => {
    origin("checkout", "--quiet", "-b", name, "main");
    change();
    commit();
    origin("checkout", "--quiet", "main");
  };

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-gitlab-"));
    mkdirSync(path.join(folder, "origin/stacks/config"), { recursive: true });
    cpSync(
      path.join(projectFolder, "examples/github/foresail"),
      path.join(folder, "origin/.gitlab/foresail"),
      {
        recursive: true,
      },
    );
    write(STACK_FILE, "of: main\n");
    origin("init", "--quiet", "--initial-branch", "main");
    commit();
    branch("stack", () => write(STACK_FILE, "of: branch\n"));
    branch("stack-and-pipeline", () => {
      write(STACK_FILE, "of: branch\n");
      write(".gitlab/foresail.gitlab-ci.yml", "");
    });
    branch("code", () => {
      write(STACK_FILE, "of: branch\n");
      write(".gitlab/foresail/preview.sh", "echo poisoned\n");
    });
    write("README.md", "main goes on\n");
    commit();
    writeFileSync(path.join(folder, "npm"), "#!/bin/sh\n");
    writeFileSync(path.join(folder, "npx"), '#!/bin/sh\necho "${TOUCHED-prod-eu1}"\n');
    writeFileSync(path.join(folder, "foresail"), STAND_IN);
    for (const name of ["npm", "npx", "foresail"]) chmodSync(path.join(folder, name), 0o700);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Runs the script of a template as a runner does, in a clone of its own. */
  function run(template: string, revision: string, environment: Record<string, string> = {}) {
    if (environment["KEEP"] === undefined) {
      rmSync(clone(), { recursive: true, force: true });
      gitIn(folder, "clone", "--quiet", path.join(folder, "origin"), clone());
    }
    // every pipeline is one of main
    gitIn(clone(), "checkout", "--quiet", "--force", "--detach", "origin/main");
    writeFileSync(path.join(folder, "calls"), "");
    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["-eo", "pipefail", "-c", pipeline[template]!.script.join("\n")],
      {
        cwd: clone(),
        encoding: "utf8",
        env: {
          PATH: `${folder}:${process.env["PATH"]}`,
          HOME: folder,
          MERGE_REQUEST_COMMIT: gitIn(clone(), "rev-parse", `origin/${revision}`),
          STACK: "prod-eu1",
          FORESAIL: path.join(folder, "foresail"),
          ...pipeline[".foresail"]!.variables,
          ...pipeline[template]!.variables,
          ...environment,
        },
      },
    );
    return { status, printed: stdout + stderr };
  }

  for (const revision of ["stack", "stack-and-pipeline"])
    it(`preview what the target branch will be after the merge of ${revision}`, () => {
      const { status, printed } = run(".foresail-preview", revision);
      assert.equal(status, 0, printed);
      assert.match(calls()[0]!, /^preview --stack prod-eu1 --save-plan foresail-review\/plan\.json --json/);
      assert.equal(readFileSync(path.join(clone(), "foresail-review/plan.json"), "utf8"), "of: branch\n");
      assert.equal(readFileSync(path.join(clone(), "foresail-review/comment.md"), "utf8"), "the comment\n");
      assert.equal(readFileSync(path.join(clone(), "README.md"), "utf8"), "main goes on\n");
    });

  it("preview again in the folder that an earlier job left", () => {
    const { status, printed } = run(".foresail-preview", "stack", { KEEP: "yes" });
    assert.equal(status, 0, printed);
  });

  it("preview no stack that the merge request does not touch", () => {
    const { status, printed } = run(".foresail-preview", "stack", { TOUCHED: "prod-eu12" });
    assert.equal(status, 0, printed);
    assert.match(printed, /it does not touch prod-eu1/);
    assert.deepEqual(calls(), [""]);
  });

  it("run no code of a branch", () => {
    const { status, printed } = run(".foresail-preview", "code");
    assert.equal(status, 1);
    assert.match(printed, /changes stack files and 1 other files/);
    assert.doesNotMatch(printed, /poisoned/);
  });

  it("apply the plan that the job before left, and no other", () => {
    const planned = run(".foresail-plan", "main");
    assert.equal(planned.status, 0, planned.printed);
    assert.match(planned.printed, /the comment/);
    const [name, PLAN_SHA256 = ""] = readFileSync(path.join(clone(), "foresail-review/plan.env"), "utf8")
      .trim()
      .split("=");
    assert.equal(name, "PLAN_SHA256");
    const apply = { KEEP: "yes", WAVE: "canary", PLAN_SHA256 };
    const { status, printed } = run(".foresail-apply", "main", apply);
    assert.equal(status, 0, printed);
    assert.deepEqual(calls(), [
      "fleet window --wave canary --stack prod-eu1",
      "up --stack prod-eu1 --plan foresail-review/plan.json",
    ]);
    writeFileSync(path.join(clone(), "foresail-review/plan.json"), "another");
    assert.equal(run(".foresail-apply", "main", apply).status, 1);
    assert.deepEqual(calls(), [""]);
  });

  it("look for drift at night, and fail with the names of the files where no token for issues is", () => {
    const night = { GITLAB_CI: "true", FORESAIL_GITLAB_TOKEN: "" };
    const { status, printed } = run("drift prod-eu1", "main", night);
    assert.equal(status, 0, printed);
    assert.match(printed, /^no drift on prod-eu1$/m);
    assert.deepEqual(calls(), ["drift --stack prod-eu1 --output json"]);
    const drifted = run("drift prod-eu1", "main", { ...night, DRIFT: "yes" });
    assert.equal(drifted.status, 10, drifted.printed);
    assert.match(drifted.printed, /^- `w-1`: `\/etc\/a` \(changed\)$/m);
    assert.match(drifted.printed, /set the variable FORESAIL_GITLAB_TOKEN/);
    assert.doesNotMatch(drifted.printed, /secret of the file/);
  });
});
