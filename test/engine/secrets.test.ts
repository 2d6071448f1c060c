import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { desiredCluster } from "./desired-cluster";
import { commandLines, descendants } from "../support/process-tree";
import { simulatedFixture } from "./simulated-fixture";

const PASSWORD = "registry-password-for-tests";
const PROXY_PASSWORD = "proxy'password %for\"tests$";
const SAMPLE_MILLISECONDS = 100;

describe("secrets", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1", "w-2"],
    milliseconds: { "join-worker": 200 },
  });
  const seen = new Set<string>();
  let sampler: NodeJS.Timeout;
  let secrets: Record<string, string[]>;

  before(async () => {
    const { stack, fleet } = fixture;
    await stack.setSecret(
      "registryCredentials",
      JSON.stringify({ "registry.example.org": { username: "pull", password: PASSWORD } }),
    );
    await stack.setSecret("proxyCredentials", JSON.stringify({ username: "node", password: PROXY_PASSWORD }));
    const cluster = (names: string[], proxy: object = { https: "http://proxy.example.org:3128" }) => ({
      ...desiredCluster(fleet, names),
      proxy,
    });
    sampler = setInterval(() => {
      for (const line of commandLines(descendants(process.pid))) seen.add(line);
    }, SAMPLE_MILLISECONDS);
    stack.configure({ cluster: cluster(["cp-1", "w-1"]) });
    await stack.up();
    stack.configure({ cluster: cluster(["cp-1", "w-1", "w-2"]) });
    await stack.call(["preview", "--diff"]);
    await stack.up();
    await stack.refresh();
    await stack.export();
    const kubeconfig = parse(String((await stack.outputs()).kubeconfig)) as {
      users: { user: { "client-key-data": string } }[];
    };
    const clientKey = kubeconfig.users[0]!.user["client-key-data"];
    secrets = {
      "SSH key": linesOf(fleet.privateKey),
      "client key of the kubeconfig": [clientKey, ...linesOf(Buffer.from(clientKey, "base64").toString())],
      "registry password": [PASSWORD, Buffer.from(`pull:${PASSWORD}`).toString("base64")],
      "password of the proxy": [
        PROXY_PASSWORD,
        JSON.stringify(PROXY_PASSWORD).slice(1, -1),
        "proxy%27password%20%25for%22tests%24",
        Buffer.from(`node:${PROXY_PASSWORD}`).toString("base64"),
      ],
      passphrase: [String(stack.environment.PULUMI_CONFIG_PASSPHRASE)],
    };
    // a failing run prints more than a successful one
    fleet.inject({ operation: "reset", machine: "w-2", kind: "fail", stderr: "simulated" });
    stack.configure({ cluster: cluster(["cp-1", "w-1"]) });
    assert.notEqual((await stack.call(["up", "--yes", "--skip-preview"])).exitCode, 0);
    await stack.up();
    await stack.destroy();
  });
  after(() => clearInterval(sampler));

  function expectNone(where: string, text: string): void {
    for (const [what, parts] of Object.entries(secrets)) {
      assert.ok(parts.length > 0 && parts.every((part) => part.length > 0), what);
      assert.equal(
        parts.some((part) => text.includes(part)),
        false,
        `the ${what} is in ${where}`,
      );
    }
    assert.doesNotMatch(text, /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/, `a bootstrap token is in ${where}`);
  }

  it("are not in the engine's output: previews, runs, failures, the exported state", () => {
    assert.ok(fixture.stack.printed.length > 1_000);
    expectNone("the engine's output", fixture.stack.printed);
  });

  it("are not in any file of the state: checkpoints, their history, and backups", () => {
    const files = filesIn(fixture.stack.stateFolder);
    assert.ok(files.some((file) => file.includes("history")));
    for (const file of files) expectNone(file, readFileSync(file, "utf8"));
  });

  it("are not in the stack's configuration file", () => {
    expectNone("the stack file", readFileSync(fixture.stack.stackFile, "utf8"));
  });

  it("are not in the arguments of any process", () => {
    assert.ok([...seen].some((line) => line.includes("pulumi") && line.includes(" up ")));
    for (const line of seen) expectNone(`the arguments of ${line.slice(0, 40)}…`, line);
  });
});

/** The lines of a key that only this key has. */
function linesOf(key: string): string[] {
  return key.split("\n").filter((line) => line.length > 30 && !line.startsWith("-----"));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile());
}
