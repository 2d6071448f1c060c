import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { linkDependencies, makeCompiledClone, removeFolder } from "./compiled-clone";
import { poolConfiguration } from "./machine-pool-fixture";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

/** Exports kubeconfigs of which each would make another stack's run do something. */
const BASE = `
const pulumi = require("@pulumi/pulumi");
module.exports = async () =>
  Object.fromEntries(Object.entries(require("./kubeconfigs.json")).map(([name, text]) => [name, pulumi.secret(text)]));
`;

/** Passes an output of that stack to a component of the package. */
const USER = `
const pulumi = require("@pulumi/pulumi");
const { MachinePool } = require("foresail/machine-pool");
const { pool } = require("./pool.json");
const kubeconfig = new pulumi.StackReference("organization/base/eu1").requireOutput("program");
new MachinePool("pool-a", { ...pool, kubeconfig });
`;

const AZIMUTH = {
  ...{ name: "demo", namespace: "az-demo", templateName: "kube-1-36-3" },
  ...{ cloudCredentialsSecretName: "credentials", controlPlaneMachineSize: "vm.small" },
};

describe("a kubeconfig that another stack shares", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let folder: string;
  let pool: TestStack;
  let azimuth: TestStack;
  let user: TestStack;
  let program: string;
  /** Exists once a program of a kubeconfig ran. */
  const ran = () => path.join(folder, "ran");

  before(async () => {
    const toolchain = await engineToolchain();
    folder = makeCompiledClone();
    const exec = {
      ...{ apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never" },
      ...{ command: "sh", args: ["-c", `env >'${ran()}'; echo '{}'`] },
    };
    const kubeconfig = (user: object, cluster: object = {}) =>
      stringify({
        ...{ apiVersion: "v1", kind: "Config", "current-context": "a" },
        clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1", ...cluster } }],
        users: [{ name: "a", user }],
        contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      });
    program = kubeconfig({ exec });
    const texts = { program, token: kubeconfig({ token: "a" }) };
    const baseFolder = makeProject("base", BASE);
    writeFileSync(path.join(baseFolder, "kubeconfigs.json"), JSON.stringify(texts));
    const userFolder = makeProject("user", USER);
    const { name: _, ...args } = poolConfiguration().machinePool as Record<string, unknown>;
    writeFileSync(path.join(userFolder, "pool.json"), JSON.stringify({ pool: args }));
    symlinkSync(folder, path.join(userFolder, "node_modules", "foresail"));
    const make = (stack: string, place: { folder: string; project: string }) =>
      new TestStack({ ...place, stack, stateFolder: path.join(folder, "backend") }, toolchain).create();
    pool = await make("pool", { folder, project: "foresail" });
    azimuth = await make("azimuth", { folder, project: "foresail" });
    user = await make("dev", { folder: userFolder, project: "user" });
    await (await make("eu1", { folder: baseFolder, project: "base" })).up();
    const shared = { base: "base/eu1" };
    pool.configure({ ...poolConfiguration(), shared });
    azimuth.configure({ system: "azimuth", azimuth: AZIMUTH, shared });
  });
  after(() => removeFolder(folder));

  const makeProject = (name: string, text: string): string => {
    const project = path.join(folder, name);
    mkdirSync(project);
    const write = (file: string, content: string) => writeFileSync(path.join(project, file), content);
    write("Pulumi.yaml", stringify({ name, runtime: "nodejs", main: "index.js" }));
    write("package.json", JSON.stringify({ name }));
    write("index.js", text);
    linkDependencies(project);
    return project;
  };

  const refuses = async (stack: TestStack, args: readonly string[], words: RegExp) => {
    const { exitCode, stdout } = await stack.call(args);
    assert.notEqual(exitCode, 0);
    assert.match(stdout, words);
    assert.match(stdout, /users\[0\]\.user\.exec would run a program on this machine/);
    assert.ok(!existsSync(ran()), "the program ran");
  };

  it("is refused for its program in the preview and in up", async () => {
    pool.configure({ managementKubeconfig: "${shared.base.program}" });
    for (const args of [["preview"], ["up", "--yes", "--skip-preview"]])
      await refuses(pool, args, /managementKubeconfig/);
  });

  it("is refused for a workload cluster, and before a plugin gets it", async () => {
    pool.configure({
      managementKubeconfig: "${shared.base.token}",
      workloadKubeconfig: "${shared.base.program}",
    });
    await refuses(pool, ["preview"], /workloadKubeconfig/);
    azimuth.configure({ managementKubeconfig: "${shared.base.program}" });
    await refuses(azimuth, ["preview"], /managementKubeconfig/);
  });

  it("is refused when a program passes it to a component", () =>
    refuses(user, ["preview"], /organization\/base\/eu1|output/));

  it("is not trusted as the operator's own, whose program runs without the passphrase", async () => {
    pool.configure({ workloadKubeconfig: "${shared.base.token}" });
    await pool.setSecret("managementKubeconfig", program);
    assert.notEqual((await pool.call(["preview"])).exitCode, 0);
    assert.match(readFileSync(ran(), "utf8"), /^PATH=/m);
    assert.doesNotMatch(readFileSync(ran(), "utf8"), /^(?:PULUMI|FORESAIL)_/m);
    rmSync(ran());
  });
});
