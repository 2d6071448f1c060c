import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { EXIT_CODES, EXITS_OF } from "../../../../cli/terminal/exit-codes";
import { projectFolder } from "../../../../sandbox/paths";
import { foresailVersion } from "../../../../lib/version";
import { leaveOut } from "../../../left-out";

const COMMAND = path.join(projectFolder, "bin", "cli", "cli.js");

function foresail(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

const hasProgram = (name: string) => spawnSync(name, ["--version"]).status === 0;

describe("what foresail prints about its commands", function () {
  this.timeout(60_000);

  it("is its version", () => {
    assert.equal(foresail("--version"), `${foresailVersion()}\n`);
  });

  it("names every command on the manual page, and every exit code", function () {
    const page = foresail("man");
    for (const command of Object.keys(EXITS_OF))
      assert.ok(page.includes(`.SS foresail ${command.replaceAll("-", "\\-")}`), command);
    for (const [code] of Object.values(EXIT_CODES)) assert.ok(page.includes(`\\fB${code}\\fR`), String(code));
    if (!hasProgram("groff")) return leaveOut(this, "groff is not installed");
    const { stdout, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww"], {
      input: page,
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    assert.match(stdout, /preview and change many stacks|preview all stacks of the fleet/);
  });

  const cases: [typed: string[], offered: string[]][] = [
    [["fl"], ["fleet"]],
    [["fleet", "ex"], ["export"]],
    [
      ["fleet", "export", ""],
      ["github", "gitlab", "operator"],
    ],
    [["plan", "--outp"], ["--output"]],
    [
      ["plan", "--output", ""],
      ["text", "json", "markdown"],
    ],
    [["plan", "--output", "json", "--to", "x", "--for"], ["--force"]],
    [["-C", "/", "config", ""], ["show"]],
    [["up", "--col"], ["--color"]],
    [["up", "--color", "n"], ["never"]],
    [["completion", "--h"], ["--help"]],
  ];
  for (const [typed, offered] of cases)
    it(`completes foresail ${typed.join(" ")} in bash`, () => {
      const words = ["foresail", ...typed].map((word) => `'${word}'`).join(" ");
      const script = `${foresail("completion", "bash")}
COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _foresail; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
      assert.equal(stderr, "");
      const found = stdout
        .split("\n")
        .filter((word) => word !== "" && !(typed.at(-1) === "" && word.startsWith("--")));
      assert.deepEqual(found, offered);
    });

  for (const shell of ["zsh", "fish"])
    it(`completes in ${shell}, whose parser accepts the script`, function () {
      const script = foresail("completion", shell);
      for (const word of ["operator", "json", "--color".replace("--", "")])
        assert.ok(script.includes(word), word);
      if (!hasProgram(shell)) return leaveOut(this, `${shell} is not installed`);
      const { status, stderr } = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" });
      assert.equal(status, 0, stderr);
    });
});

describe("the options of every command", function () {
  this.timeout(60_000);
  const run = (args: string[], environment: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, [COMMAND, ...args], {
      encoding: "utf8",
      cwd: "/",
      env: { PATH: process.env["PATH"], ...environment },
    });

  it("run a command in another folder with -C, before or after its name", () => {
    for (const args of [
      ["-C", projectFolder, "config", "show", "--stack", "none"],
      ["config", "show", "--stack", "none", "-C", projectFolder],
    ])
      assert.doesNotMatch(run(args).stderr, /there is no Pulumi\.yaml/);
    const { status, stderr } = run(["-C", "/nowhere", "config", "show"]);
    assert.equal(status, 2);
    assert.match(stderr, /-C \/nowhere: there is no such file or folder/);
  });

  it("show where an error comes from with --verbose", () => {
    const plan = ["plan", "--kubeconfig", "/nowhere", "--to", "v1.36.3"];
    assert.doesNotMatch(run(plan).stderr, /\n {4}at /);
    assert.match(run([...plan, "--verbose"]).stderr, /\n {4}at [^]*caused by: Error: ENOENT/);
  });

  it("find the kubeconfig of plan as kubectl does", () => {
    const plan = ["plan", "--to", "1.36.3"];
    assert.match(
      run(plan, { KUBECONFIG: "/nowhere/a:/nowhere/b" }).stderr,
      /there is no kubeconfig at \/nowhere\/a, \/nowhere\/b/,
    );
    assert.match(run(plan, { HOME: "/nowhere" }).stderr, /at \/nowhere\/\.kube\/config/);
  });
});
