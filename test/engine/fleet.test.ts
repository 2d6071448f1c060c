import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { hostname, tmpdir } from "node:os";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { parse, stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import { removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { readJournal, writeJournalProject } from "./journal-project";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { answerSteps, TestSshServer } from "../support/ssh-server";
import { type StateResource, TestStack } from "./test-stack";

const STACKS = ["eu1", "eu2", "us1"];

describe("a fleet of stacks in waves", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let folder: string;
  let fleet: FleetCommand;
  let stack: TestStack;
  const stacks: Record<string, TestStack> = {};
  let asked = 0;
  const service = createServer((_, response) => void response.writeHead((asked += 1) && 204).end());

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-fleet-"));
    writeJournalProject(folder, { holdSeconds: 60 });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
    const command = ["sh", "-c", "echo gate >>journal; test ! -e closed"];
    const waves = [
      { name: "canary", stacks: ["eu1"] },
      { name: "europe", labels: { region: "eu" }, gate: { url, command, approval: true } },
      { name: "rest", stacks: ["*"] },
    ];
    writeFileSync(path.join(folder, "fleet.yaml"), stringify({ waves }));
    const toolchain = await engineToolchain();
    for (const name of STACKS) {
      stack = await new TestStack({ folder, project: "waves", stack: name }, toolchain).create();
      stacks[name] = stack;
      const file = path.join(folder, `Pulumi.${name}.yaml`);
      const config = { "waves:labels": { region: name.slice(0, 2) } };
      writeFileSync(file, stringify({ ...(parse(readFileSync(file, "utf8")) as object), config }));
    }
    fleet = new FleetCommand(stack);
  });
  after(() => {
    service.close();
    removeFolder(folder);
  });

  const at = (name: string) => path.join(folder, name);
  const set = (name: string) => writeFileSync(at(name), "");
  const clear = (name: string) => rmSync(at(name), { force: true });
  const journal = () => {
    const lines = readJournal(folder);
    clear("journal");
    return lines;
  };

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 60_000; !isSo();) {
      assert.ok(Date.now() < deadline, `${what} did not happen`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const begun = (name: string) =>
    until(
      `${name} begins`,
      () => existsSync(at("journal")) && readFileSync(at("journal"), "utf8").includes(name),
    );

  it("is not previewed with a wrong passphrase: each stack says why, and nothing changes", async () => {
    const { exitCode, stdout } = await new FleetCommand(stack, { PULUMI_CONFIG_PASSPHRASE: "wrong" }).run(
      ...["fleet", "up", "--yes"],
    );
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /the passphrase is wrong/);
    assert.match(stdout, /^rest +us1 +failed$/m);
    assert.match(stdout, /^nothing was changed$/m);
    assert.deepEqual(journal(), []);
  });

  it("is previewed as a whole, and one table shows every stack", async () => {
    const { exitCode, stdout } = await fleet.run("fleet", "preview", "--save-plan", "plans");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /^WAVE +STACK +PREVIEW\ncanary +eu1 +\S.*\neurope +eu2 +\S.*\nrest +us1 +\S.*$/m);
    assert.ok(STACKS.every((name) => existsSync(at(`plans/${name}.json`))));
    const report = await fleet.run("fleet", "report", "plans", "--markdown");
    assert.match(report.stdout, /^### foresail: changes in 3 of 3 stacks$/m);
    assert.match(report.stdout, /^\| `europe` \| `eu2` \| – \| – \| .* \| 0 \| `[0-9a-f]{64}` \|$/m);
    assert.deepEqual(journal(), []);
  });

  it("begins nothing while the window of a wave is closed, and says when it opens", async () => {
    const days = [["sun", "mon", "tue", "wed", "thu", "fri", "sat"][(new Date().getUTCDay() + 3) % 7]];
    const window = { days, from: "00:00", to: "12:00", timeZone: "UTC" };
    writeFileSync(at("closed.yaml"), stringify({ waves: [{ name: "all", stacks: ["*"], window }] }));
    const { exitCode, stdout } = await fleet.run("fleet", "up", "--plan", "plans", "--file", "closed.yaml");
    assert.equal(exitCode, EXIT.paused, stdout);
    assert.match(stdout, /^wave all: its window, .* is closed until \S+T00:00:00\.000Z; to go on then: /m);
    assert.deepEqual(journal(), []);
  });

  it("stops after a failure in the second wave, and the same command does the rest up to the gate", async () => {
    set("fail-eu2");
    const failed = await fleet.run("fleet", "up", "--plan", "plans");
    assert.equal(failed.exitCode, EXIT.failed, failed.stdout);
    assert.match(failed.stdout, /^canary +eu1 +done\neurope +eu2 +failed\nrest +us1 +not begun$/m);
    assert.match(failed.stdout, /broken on purpose/);
    assert.deepEqual(journal(), ["eu1 begins", "eu1 ends", "eu2 begins"]);
    const history = JSON.parse(readFileSync(at(".foresail/fleet/history.json"), "utf8")) as object;
    assert.deepEqual(Object.keys(history), ["eu1"]);
    clear("fail-eu2");
    // an approval does not open a gate whose command fails
    set("closed");
    const shut = await fleet.run("fleet", "up", "--plan", "plans", "--approve", "europe");
    assert.equal(shut.exitCode, EXIT.failed, shut.stdout);
    assert.match(shut.stdout, /^continuing the run of .*: 1 of 3 stacks done$/m);
    assert.match(shut.stdout, /^gate of europe: failed: exit code 1$/m);
    assert.deepEqual([journal(), asked], [["eu2 begins", "eu2 ends", "gate"], 1]);
    clear("closed");
  });

  it("waits for the approval of a gate, with the parts that have passed", async () => {
    const { exitCode, stdout } = await fleet.run("fleet", "up", "--continue");
    assert.equal(exitCode, EXIT.paused, stdout);
    assert.match(stdout, /^gate of europe: not approved; to go on: .* --approve europe$/m);
    assert.deepEqual([journal(), asked], [["gate"], 1]);
    // neither part would pass again
    set("closed");
    service.close();
  });

  it("refuses a second run at the same time, and goes on after its own runner was killed", async () => {
    set("hold-us1");
    const first = fleet.start("fleet", "up", "--continue", "--approve", "europe");
    await begun("us1");
    const second = await fleet.run("fleet", "up", "--continue");
    assert.equal(second.exitCode, EXIT.locked, second.stdout);
    assert.match(second.stderr, /another run of this fleet is active: process \d+/);
    first.child.kill("SIGKILL");
    await first.ended;
    const third = await fleet.run("fleet", "up", "--continue");
    assert.equal(third.exitCode, EXIT.locked, third.stdout);
    assert.match(third.stderr, /process \d+ of a run that was killed still works on us1/);
    clear("hold-us1");
    await until("us1 ends", () => readFileSync(at("journal"), "utf8").includes("us1 ends"));
    const isOver = async () => (await fleet.run("fleet", "up", "--continue")).exitCode;
    let code: number = await isOver();
    for (let left = 10; left > 0 && code === EXIT.locked; left -= 1) code = await isOver();
    assert.equal(code, EXIT.done);
    const { stdout } = await fleet.run("fleet", "status");
    assert.match(stdout, /^canary +eu1 +done\neurope +eu2 +done\nrest +us1 +done$/m);
    assert.ok(journal().every((line) => line.startsWith("us1")));
  });

  it("stops at an interrupt without beginning another stack", async () => {
    writeFileSync(at("version"), "-2");
    set("hold-eu1");
    const run = fleet.start("fleet", "up", "--yes", "--serve");
    await begun("eu1");
    const [, url = ""] = /^the run is shown at (http:\S+)$/m.exec(run.printed()) ?? [];
    assert.match(await (await fetch(url)).text(), /data-state-of="eu1">running</);
    run.child.kill("SIGINT");
    clear("hold-eu1");
    const { exitCode, stdout } = await run.ended;
    assert.equal(exitCode, EXIT.interrupted, stdout);
    assert.match(stdout, /^europe +eu2 +not begun$/m);
    assert.ok(journal().every((line) => line.startsWith("eu1")));
  });

  /** Changes the resources in a stack's state. */
  async function edit(name: string, change: (resources: Record<string, unknown>[]) => void): Promise<void> {
    const state = await stacks[name]!.export();
    change((state.deployment.resources ?? []) as unknown as Record<string, unknown>[]);
    writeFileSync(at("state.json"), JSON.stringify(state));
    const { exitCode, stderr } = await stacks[name]!.call(["stack", "import", "--file", at("state.json")]);
    assert.equal(exitCode, 0, stderr);
  }
  const own = (name: string, kind: string, fields: object) => {
    const type = `pulumi-nodejs:dynamic/foresail:${kind}`;
    return { urn: `urn:pulumi:${name}::waves::${type}::${kind}`, type, custom: false, ...fields };
  };

  it("shows which stacks have drifted, and which could not be read", async () => {
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const changed = `changed ${encode("/etc/motd")} 644,root:root ${encode("a")} 644,root:root ${encode("b")}`;
    const servers: TestSshServer[] = [];
    for (const [name, answer] of Object.entries({ us1: changed, eu2: "at-work" })) {
      const server = await new TestSshServer(answerSteps(() => `${answer}\n`)).listen();
      servers.push(server);
      const { privateKey, ...machine } = server.target();
      const inputs = { specification: { name }, machines: [machine], credentials: { privateKey } };
      await edit(name, (resources) => resources.push(own(name, "NodeAgents", { inputs })));
    }
    const { exitCode, stdout, stderr } = await fleet.run("fleet", "drift");
    for (const server of servers) await server.close();
    assert.equal(exitCode, EXIT.drifted, stdout + stderr);
    assert.match(
      stdout,
      /^WAVE +STACK +DRIFT\ncanary +eu1 +failed\neurope +eu2 +1 of 1 machine not read\nrest +us1 +1 file on 1 machine$/m,
    );
    assert.match(stdout, /^ +w-1: \/etc\/motd \(changed\)$/m);
    assert.match(stdout, /^ +w-1: not read: its node agent changes the machine now/m);
  });

  it("is destroyed in the reverse order: only after its name, nothing protected, and what is left after a failure", async () => {
    const outputs = { adopt: {}, machines: [{ name: "w-1" }] };
    await edit("eu2", (resources) => resources.push(own("eu2", "ClusterInit", { outputs })));
    const protect = (isProtected: boolean) =>
      edit("eu1", (resources) => {
        for (const resource of resources)
          if (resource.type === "test:index:Region") resource.protect = isProtected;
      });
    const left = async () => {
      const found: Record<string, StateResource[]> = {};
      for (const name of STACKS) found[name] = (await stacks[name]!.export()).deployment.resources ?? [];
      return STACKS.filter((name) => found[name]!.length > 0);
    };
    await protect(true);
    const refused = await fleet.run("fleet", "destroy", "--confirm", "waves");
    assert.equal(refused.exitCode, EXIT.failed, refused.stdout);
    assert.match(refused.stdout, /^canary +eu1 +refused: \d protected resources?$/m);
    await protect(false);
    const unconfirmed = await fleet.run("fleet", "destroy");
    assert.equal(unconfirmed.exitCode, EXIT.usage, unconfirmed.stdout);
    assert.match(
      unconfirmed.stdout,
      /^WAVE +STACK +DESTROY\nrest +us1 +delete 3 resources\neurope +eu2 +release 1 cluster, which keeps running; delete 1 resource\ncanary +eu1 +delete \d resources$/m,
    );
    const mistyped = await fleet.run("fleet", "destroy", "--confirm", "wave");
    assert.equal(mistyped.exitCode, EXIT.usage, mistyped.stdout);
    assert.deepEqual(await left(), STACKS);

    const locks = path.join(stack.stateFolder, ".pulumi", "locks", "organization", "waves", "eu2");
    mkdirSync(locks, { recursive: true });
    const lock = {
      pid: 1,
      username: "other",
      hostname: `not-${hostname()}`,
      timestamp: new Date().toISOString(),
    };
    writeFileSync(path.join(locks, "other.json"), JSON.stringify(lock));
    const failed = await fleet.run("fleet", "destroy", "--confirm", "waves");
    assert.equal(failed.exitCode, EXIT.failed, failed.stdout);
    assert.match(failed.stdout, /^rest +us1 +done\neurope +eu2 +failed\ncanary +eu1 +not begun$/m);
    assert.deepEqual(await left(), ["eu1", "eu2"]);
    rmSync(path.join(locks, "other.json"));
    const rest = await fleet.run("fleet", "destroy", "--confirm", "waves");
    assert.equal(rest.exitCode, EXIT.done, rest.stdout);
    assert.match(rest.stdout, /^rest +us1 +nothing is left$/m);
    assert.deepEqual(await left(), []);
    assert.equal((await fleet.run("fleet", "up", "--continue")).exitCode, EXIT.changed);
    assert.deepEqual(journal(), []);
  });
});
