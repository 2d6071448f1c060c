import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import {
  EXIT,
  EXIT_CODES,
  EXITS_OF,
  exitCodesHelp,
  type CommandName,
} from "../../../cli/terminal/exit-codes";
import { plan, type PlanOptions } from "../../../cli/commands/plan";
import { projectFolder } from "../../../sandbox/paths";
import { TestAuthority } from "../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../support/kubernetes-server";
import { read } from "../docs/project";
import { plainNode, plainPod } from "./forecast/facts";

const COMMANDS = Object.keys(EXITS_OF) as CommandName[];

function foresail(...args: string[]) {
  const cli = path.join(projectFolder, "bin/cli/cli.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: "utf8",
    cwd: "/",
    env: { PATH: "/nowhere" },
  });
  return { status, stdout, stderr };
}

describe("exit codes of foresail", function () {
  this.timeout(60_000);

  it("have one meaning each, and fit a shell", () => {
    const codes = Object.values(EXIT_CODES).map(([code]) => code as number);
    assert.equal(new Set(codes).size, codes.length);
    assert.ok(codes.every((code) => code >= 0 && code <= 255));
    assert.equal(new Set(Object.values(EXIT_CODES).map(([, meaning]) => meaning)).size, codes.length);
  });

  it("are the table of the page", () => {
    const expected = Object.entries(EXIT_CODES).map(([name, [code, meaning]]) => {
      const commands = COMMANDS.filter((command) => (EXITS_OF[command] as readonly string[]).includes(name));
      const named = commands.map((command) => `\`${command}\``).join(", ");
      return [String(code), meaning, commands.length === COMMANDS.length ? "every command" : named];
    });
    const section = read("docs/operations.md").split("\n## Exit codes\n")[1] ?? "";
    const rows = [...section.matchAll(/^\| (\d+) +\| (.*?) +\| (.*?) +\|$/gm)].map((row) => row.slice(1));
    assert.deepEqual(rows, expected);
  });

  for (const command of COMMANDS)
    it(`are listed in the help of ${command}, which exits with ${EXIT.usage} for a wrong command line`, () => {
      const help = foresail(...command.split(" "), "--help");
      assert.equal(help.status, EXIT.done);
      assert.ok(help.stdout.includes(exitCodesHelp(command)), help.stdout);
      assert.equal(foresail(...command.split(" "), "--nonsense").status, EXIT.usage);
    });

  it(`are ${EXIT.usage} for a value of the wrong form and for two forms of output`, () => {
    const to = ["plan", "--kubeconfig", "/nowhere", "--to"];
    assert.equal(foresail(...to, "1.36").status, EXIT.usage);
    assert.equal(foresail(...to, "1.36.3", "--max-unavailable", "x").status, EXIT.usage);
    assert.equal(foresail(...to, "1.36.3", "--json", "--markdown").status, EXIT.usage);
    assert.equal(foresail(...to, "1.36.3", "--output", "json", "--markdown").status, EXIT.usage);
    assert.equal(foresail(...to, "1.36.3", "--output", "xml").status, EXIT.usage);
    assert.equal(foresail("report", "/nowhere").status, EXIT.usage);
    assert.equal(foresail(...to, "1.36.3", "--output", "json").status, EXIT.failed);
  });
});

describe("exit codes of foresail plan", function () {
  this.timeout(30_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-exit-"));
  const authority = new TestAuthority(folder);
  const file = path.join(folder, "kubeconfig");
  let server: TestKubernetesServer;

  before(async () => {
    const certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
    server = await new TestKubernetesServer(certificate).listen();
    writeFileSync(file, kubeconfigOf(authority, [server]), { mode: 0o600 });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    server.store.objects.clear();
    server.calls.length = 0;
    server.intercept = (call) => {
      if (call === "GET /metrics") return { status: 200, text: "# no metric" };
      return call === "GET /version" ? { status: 200, text: '{"gitVersion":"v1.35.4"}' } : undefined;
    };
    for (const name of ["cp-1", "w-1"])
      server.store.put(`/api/v1/nodes/${name}`, { ...plainNode(name, "1.35.4") });
    const data = { ClusterConfiguration: "kubernetesVersion: v1.35.4" };
    server.store.put(KUBEADM, { data });
  });
  const KUBEADM = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";

  async function run(over: Partial<PlanOptions> = {}) {
    const printed: string[] = [];
    const options = { kubeconfig: file, to: "1.36.3", via: [], maxUnavailable: "1", output: "text" } as const;
    const flags = { force: false, deleteEmptydirData: false };
    const code = await plan({ ...options, ...flags, ...over }, (text) => void printed.push(text));
    return { code, text: stripVTControlCharacters(printed.join("")) };
  }

  it("is 0 when nothing blocks the rollout, and its data name the API server's version", async () => {
    const { code, text } = await run({ output: "json" });
    assert.equal(code, EXIT.done);
    const { serverVersion, steps } = JSON.parse(text) as { serverVersion: string; steps: unknown[] };
    assert.deepEqual([serverVersion, steps.length], ["1.35.4", 2]);
  });

  it("is 5 when something blocks it", async () => {
    const pod = plainPod("alone", { node: "w-1" });
    server.store.put("/api/v1/namespaces/shop/pods/alone", pod as never);
    const { code, text } = await run();
    assert.equal(code, EXIT.blocked, text);
    assert.match(text, /Blocked by 1 issue\./);
  });

  it("is 6 when a check could not be made", async () => {
    const { intercept } = server;
    server.intercept = (call) => (call === "GET /api/v1/pods" ? { status: 403 } : intercept(call));
    assert.equal((await run()).code, EXIT.unknown);
  });

  it("is 7 for a cluster without kubeadm-config, which is then read no further", async () => {
    server.store.objects.delete(KUBEADM);
    const { code, text } = await run({ output: "markdown" });
    assert.equal(code, EXIT.otherDistribution);
    assert.match(text, /\*\*Not a kubeadm cluster\*\*: `it has no ConfigMap kube-system\/kubeadm-config`/);
    assert.equal(server.calls.includes("GET /metrics"), false);
  });

  it("is 5 when the API server is newer than the target", async () => {
    const { code, text } = await run({ to: "1.34.4" });
    assert.equal(code, EXIT.blocked);
    assert.match(text, /✗ the API server runs 1\.35\.4, and Kubernetes can't go down a minor to 1\.34\.4\n/);
  });

  it("warns when the API server is older than kubeadm-config and the kubelets say", async () => {
    server.intercept = (call) =>
      call === "GET /version" ? { status: 200, text: '{"gitVersion":"v1.34.4"}' } : undefined;
    const { text } = await run();
    assert.match(
      text,
      /! the API server runs 1\.34\.4, and kubeadm-config names 1\.35\.4: an upgrade of the control planes is not complete\n/,
    );
    assert.match(text, /! the API server runs 1\.34\.4, which is older than the kubelets of cp-1, w-1\n/);
  });
});
