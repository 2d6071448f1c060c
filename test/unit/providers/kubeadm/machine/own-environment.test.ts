import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { renderStep } from "../../../../../providers/kubeadm/machine/shell";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

/** What login sessions of a machine may set. */
const SESSION = {
  http_proxy: "http://proxy.example:3128",
  HTTPS_PROXY: "http://proxy.example:3128",
  all_proxy: "socks5://proxy.example",
  no_proxy: "localhost",
  PATH: "/usr/bin:/bin",
  HOME: "/root",
  LC_ALL: "tr_TR.UTF-8",
  KUBECONFIG: "/root/other.conf",
  CURL_HOME: "/root",
  "BASH_FUNC_ip%%": "() { echo another ip; }",
  // of the name of a step's variable
  MACHINE: "other",
};

describe("the environment of a step", () => {
  const run = (commands: string, session: Record<string, string> = SESSION) =>
    spawnSync("bash", ["-c", renderStep("facts w-1", commands, { MACHINE: "w-1" })], {
      encoding: "utf8",
      env: session,
    });

  it("has nothing of the login session", () => {
    const { stdout } = run("env");
    const names = stdout.split("\n").filter(Boolean);
    assert.deepEqual(names.filter((line) => !/^(_|PWD|OLDPWD|SHLVL)=/.test(line)).sort(), [
      "HOME=/var/lib/foresail",
      "LC_ALL=C",
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ]);
  });

  it("keeps the step's own variables, runs programs and not functions, and is in no folder of a user", () => {
    const { stdout } = run('echo "$MACHINE $(type -t ip)"; pwd');
    assert.equal(stdout, "w-1 file\n/\n");
  });

  it("names the proxies that it removed", () => {
    assert.equal(
      run('echo "$login_proxies"').stdout.trim().split(" ").sort().join(" "),
      "HTTPS_PROXY all_proxy http_proxy no_proxy",
    );
    assert.equal(run('echo "$login_proxies"', {}).stdout, "\n");
  });
});

describe("a step that fails", () => {
  function machine(): ShellMachine {
    const host = new ShellMachine();
    for (const folder of ["/run", "/etc", "/var/log", "/var/lib"]) host.write(`${folder}/README`, "");
    return host;
  }
  const fail = (host: ShellMachine, commands: string) =>
    host.run({ "common/frame": "all" }, { OPERATION: "prepare" }, commands);

  it("names the command that printed nothing", () => {
    const { status, stderr } = fail(machine(), "found=$(false)");
    assert.equal(status, 1);
    assert.match(stderr, /^the command "found=\$\(false\)" ended with 1 and printed nothing$/m);
  });

  it("prints the last lines of its log, and nothing about commands", () => {
    const { stderr } = fail(machine(), 'fail "no runtime" 65');
    assert.match(stderr, /^no runtime\n/);
    assert.doesNotMatch(stderr, /printed nothing/);
  });

  it("prints a hint of the step after its log", () => {
    assert.match(
      fail(machine(), "hint='no proxy is used'; echo no answer; false").stderr,
      /^no answer\nno proxy is used\n$/,
    );
  });

  it("says that its log's disk is full before it does anything", () => {
    const host = machine();
    host.write(`${NODE_PATHS.logs}/README`, "");
    symlinkSync("/dev/full", host.path(`${NODE_PATHS.logs}/prepare.log`));
    const { status, stderr } = fail(host, `touch ${host.root}/run/begun`);
    assert.equal(status, 74);
    assert.match(stderr, /prepare\.log: No space left on device\. Free space/);
  });

  it("says why it can't create its folders", () => {
    const host = machine();
    host.write(NODE_PATHS.logs, "a file");
    const { status, stderr } = fail(host, "true");
    assert.equal(status, 74);
    assert.match(stderr, /mkdir: .*foresail.*: .*Free space on that disk or repair it/);
  });
});
