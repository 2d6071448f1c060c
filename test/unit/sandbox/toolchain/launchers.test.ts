import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import {
  COMMAND_PLUGIN_VARIABLE,
  commandLauncher,
  pulumiLaunchers,
} from "../../../../sandbox/toolchain/launchers";

const run = promisify(execFile);
const tellsWho = "console.log(JSON.stringify([__filename, process.ppid, ...process.argv.slice(2)]))";

describe("launchers of plugins", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), "foresail-launchers-")));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function path_(file: string, text: string): Promise<string> {
    const whole = path.join(folder, file);
    await mkdir(path.dirname(whole), { recursive: true });
    await writeFile(whole, text);
    await chmod(whole, 0o755);
    return whole;
  }
  const provider = "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js";

  it("runs the provider of the project above the working folder, as a child of its caller", async () => {
    const script = await path_("launcher", pulumiLaunchers["pulumi-resource-pulumi-nodejs"] ?? "");
    const found = await path_(provider, tellsWho);
    await mkdir(path.join(folder, "a/b"), { recursive: true });
    const { stdout } = await run(script, ["127.0.0.1:1", "two words"], { cwd: path.join(folder, "a/b") });
    assert.deepEqual(JSON.parse(stdout), [found, process.pid, "127.0.0.1:1", "two words"]);
  });

  it("says what to do when no project has the provider", async () => {
    const script = await path_("launcher", pulumiLaunchers["pulumi-resource-pulumi-nodejs"] ?? "");
    await assert.rejects(run(script, [], { cwd: folder }), /dynamic-provider.* was not found .*npm ci/s);
  });

  it("runs the fallback of the clone that the environment names, wherever it is started", async () => {
    const script = await path_("launcher", commandLauncher);
    const mine = await path_("clone one/main.js", tellsWho);
    const env = { ...process.env, [COMMAND_PLUGIN_VARIABLE]: mine };
    const { stdout } = await run(script, ["x"], { cwd: "/", env });
    assert.deepEqual(JSON.parse(stdout), [mine, process.pid, "x"]);
  });

  it("runs the fallback of the project in the working folder when the environment names none", async () => {
    const script = await path_("launcher", commandLauncher);
    const mine = await path_("bin/sandbox/command-plugin/main.js", tellsWho);
    const env = { ...process.env, [COMMAND_PLUGIN_VARIABLE]: "" };
    const { stdout } = await run(script, [], { cwd: folder, env });
    assert.deepEqual(JSON.parse(stdout), [mine, process.pid]);
  });
});
