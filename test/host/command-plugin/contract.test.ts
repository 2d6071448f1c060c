import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import {
  isSecret,
  isUnknown,
  makeSecret,
  reveal,
  UNKNOWN,
  type Properties,
} from "../../../sandbox/command-plugin/wire.js";
import { connectionTo, COPY, eventually, fixture, LOCAL, REMOTE } from "./fixture.js";
import { isReplacement, PluginProcess, plain, struct, type Diffed } from "./plugin-process.js";

describe("command plugin: contract with the engine", function () {
  this.timeout(20_000);
  const host = fixture({ password: "hunter2 is secret" });
  const minimal: Properties = { host: "10.0.0.1" };

  it("says its version", async () => {
    const info = await host.plugin.call<Empty, PluginInfo>("getPluginInfo", new Empty());
    assert.match(info.getVersion(), isReplacement ? /^1\.2\.1$/ : /^1\./);
  });

  it("accepts secrets and resources and supports previews", async () => {
    const answer = await host.plugin.call<messages.ConfigureRequest, messages.ConfigureResponse>(
      "configure",
      new messages.ConfigureRequest(),
    );
    assert.deepEqual(
      [answer.getAcceptsecrets(), answer.getAcceptresources(), answer.getSupportspreview()],
      [true, true, true],
    );
  });

  it("sets the defaults of the connection and of its proxy, and no others", async () => {
    const { inputs, failures } = await host.plugin.check(REMOTE, {
      connection: { ...minimal, proxy: { host: "10.0.0.2" } },
      create: "true",
    });
    assert.deepEqual(failures, []);
    const defaults = { port: 22, user: "root", dialErrorLimit: 10, perDialTimeout: 15 };
    assert.deepEqual(reveal(inputs), {
      connection: { host: "10.0.0.1", ...defaults, proxy: { host: "10.0.0.2", ...defaults } },
      create: "true",
    });
  });

  it("marks the connection as secret, and its password and keys inside it too", async () => {
    const given = {
      ...minimal,
      password: "p",
      privateKey: "k",
      privateKeyPassword: "kp",
      proxy: { host: "h", password: "pp" },
    };
    const { connection } = (await host.plugin.check(REMOTE, { connection: given })).inputs;
    assert.ok(isSecret(connection));
    const inside = connection["value"] as Properties;
    const secret = Object.entries(inside).flatMap(([name, value]) => (isSecret(value) ? [name] : []));
    assert.deepEqual(secret.sort(), ["password", "privateKey", "privateKeyPassword"]);
    assert.ok(isSecret((inside["proxy"] as Properties)["password"]));
  });

  const refused: [string, string, Properties, string][] = [
    ["an unknown input", REMOTE, { connection: minimal, crate: "true" }, "crate"],
    [
      "an unknown input of the connection",
      REMOTE,
      { connection: { ...minimal, hostkey: "x" } },
      "connection.hostkey",
    ],
    [
      "an unknown input of the proxy",
      REMOTE,
      { connection: { ...minimal, proxy: { host: "h", proxy: {} } } },
      "connection.proxy.proxy",
    ],
    [
      "an unknown input in a secret",
      REMOTE,
      { connection: makeSecret({ ...minimal, keepAlive: 3 }) },
      "connection.keepAlive",
    ],
    ["a local command's input on a remote one", REMOTE, { connection: minimal, dir: "/" }, "dir"],
    [
      "an unknown input of a copy",
      COPY,
      { connection: minimal, remotePath: "/x", source: asset("x"), mode: 1 },
      "mode",
    ],
    ["a missing connection", REMOTE, { create: "true" }, "connection"],
    ["a missing host", REMOTE, { connection: { user: "root" } }, "connection.host"],
    ["a port that is not a number", REMOTE, { connection: { ...minimal, port: "ssh" } }, "connection.port"],
    [
      "an environment that is not an object",
      REMOTE,
      { connection: minimal, environment: "A=b" },
      "environment",
    ],
    ["a command that is not a string", LOCAL, { create: ["true"] }, "create"],
  ];
  for (const [what, type, inputs, at] of refused) {
    it(`refuses ${what}, with its path`, async () => {
      const { failures } = await host.plugin.check(type, inputs);
      assert.ok(failures.length > 0);
      if (isReplacement)
        assert.deepEqual(
          failures.map((failure) => failure.split(": ")[0]),
          [at],
        );
    });
  }

  it("names the inputs that 1.2.1 knows, and all issues at once", async function () {
    if (!isReplacement) this.skip();
    const { failures } = await host.plugin.check(REMOTE, { connection: { hots: "h" }, crate: "x" });
    assert.deepEqual(failures.map((failure) => failure.split(": ")[0]).sort(), [
      "connection.host",
      "connection.hots",
      "crate",
    ]);
    assert.match(failures.join("\n"), /crate: not an input of command 1\.2\.1; it knows .*create/);
  });

  it("accepts values that a preview does not know yet", async () => {
    const unknown = makeSecret(UNKNOWN);
    assert.deepEqual(
      (await host.plugin.check(REMOTE, { connection: unknown, create: UNKNOWN, triggers: [UNKNOWN] }))
        .failures,
      [],
    );
    assert.deepEqual(
      (await host.plugin.check(REMOTE, { connection: { host: UNKNOWN, port: UNKNOWN } })).failures,
      [],
    );
  });

  it("finds nothing to do for the same inputs", async () => {
    const given = {
      connection: minimal,
      create: "a",
      triggers: [1, { deep: [true] }],
      environment: { A: "b" },
    };
    const { inputs } = await host.plugin.check(REMOTE, given);
    const { changed, detail } = await host.plugin.diff(
      REMOTE,
      inputs,
      { ...inputs, stdout: "s", stderr: "" },
      given,
    );
    assert.deepEqual([changed, detail], [false, {}]);
  });

  it("updates for changed inputs, path by path, and for the connection as a whole", async () => {
    const old = { connection: minimal, create: "a", delete: "d", environment: { A: "1", B: "2" } };
    const { inputs } = await host.plugin.check(REMOTE, old);
    const news = {
      connection: { host: "10.0.0.9" },
      create: "b",
      update: "u",
      environment: { A: "1", B: "3" },
    };
    const { changed, detail } = await host.plugin.diff(
      REMOTE,
      inputs,
      { ...inputs, stdout: "", stderr: "" },
      news,
    );
    assert.equal(changed, true);
    assert.deepEqual(detail, {
      connection: "UPDATE",
      create: "UPDATE",
      delete: "DELETE",
      update: "ADD",
      "environment.B": "UPDATE",
    });
  });

  it("replaces for changed triggers", async () => {
    const old = { connection: minimal, create: "a", triggers: ["x"] };
    const { inputs } = await host.plugin.check(REMOTE, old);
    const diff = (triggers: string[] | null): Promise<Diffed> =>
      host.plugin.diff(REMOTE, inputs, { ...inputs, stdout: "", stderr: "" }, { ...old, triggers });
    assert.deepEqual((await diff(null)).detail, { triggers: "DELETE_REPLACE" });
    // For an element the official plugin leaves the replacement to the SDK's replaceOnChanges of triggers[*].
    const { detail } = await diff(["y", "z"]);
    assert.deepEqual(Object.keys(detail).sort(), ["triggers[0]", "triggers[1]"]);
    if (isReplacement)
      assert.deepEqual(detail, { "triggers[0]": "UPDATE_REPLACE", "triggers[1]": "ADD_REPLACE" });
  });

  it("previews a create without connecting, with unknown outputs", async () => {
    const before = host.server.logins.length;
    const { outputs } = await host.plugin.create(
      REMOTE,
      { connection: host.connection(), create: "echo x" },
      true,
    );
    assert.ok(isUnknown(outputs["stdout"]) && isUnknown(outputs["stderr"]));
    assert.equal(outputs["create"], "echo x");
    assert.equal(host.server.logins.length, before);
  });

  it("previews an update without connecting, outputs unknown only where an input changes", async () => {
    const given = { connection: host.connection(), create: "echo x" };
    const { outputs } = await host.plugin.create(REMOTE, given);
    const before = host.server.logins.length;
    const changed = await host.plugin.update(REMOTE, outputs, { ...given, create: "echo y" }, true);
    assert.ok(isUnknown(changed["stdout"]));
    assert.equal((await host.plugin.update(REMOTE, outputs, given, true))["stdout"], "x");
    assert.equal(host.server.logins.length, before);
  });

  it("keeps secret inputs secret in its outputs, and uses their values", async () => {
    const { outputs } = await host.plugin.create(REMOTE, {
      connection: host.connection(),
      create: makeSecret("cat; echo $WORD"),
      stdin: makeSecret("whispered "),
      environment: { WORD: makeSecret("quietly") },
    });
    assert.equal(reveal(outputs["stdout"] ?? null), "whispered quietly");
    assert.ok(isSecret(outputs["connection"]) && isSecret(outputs["create"]) && isSecret(outputs["stdin"]));
    assert.deepEqual(outputs["environment"], { WORD: makeSecret("quietly") });
  });

  it("reads a resource from its state", async () => {
    const state = { create: "x", connection: makeSecret(minimal), stdout: "s" };
    const request = new messages.ReadRequest();
    request.setId("name1");
    request.setUrn(`urn:pulumi:test::foresail::${REMOTE}::step`);
    request.setProperties(struct({ ...state, stderr: "" }));
    request.setInputs(struct({ create: "x", connection: makeSecret(minimal) }));
    const answer = await host.plugin.call<messages.ReadRequest, messages.ReadResponse>("read", request);
    assert.equal(answer.getId(), "name1");
    assert.deepEqual(plain(answer.getProperties()), { ...state, stderr: "" });
  });

  it("puts no secret into its output, logs or process arguments", async () => {
    const password = "hunter2 is secret";
    const connection = connectionTo(host.server, { privateKey: null, password });
    const given = {
      connection,
      create: makeSecret("echo hidden-command; cat >&2; sleep 5"),
      stdin: makeSecret("hidden-input"),
      logging: "none",
    };
    const pending = host.plugin.create(REMOTE, { ...given, delete: null });
    pending.catch(() => undefined);
    const running = (): boolean =>
      host.server.commands.some(({ command }) => command.includes("hidden-command"));
    await eventually("the command runs", running);
    const args = execFileSync("ps", ["-o", "args=", "-p", String(host.plugin.process.pid)]).toString();
    await host.server.close();
    await assert.rejects(pending, (error: Error) => {
      if (isReplacement) assert.doesNotMatch(error.message, /hidden-command; cat/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
    const seen = args + host.plugin.printed + host.plugin.logs.map(({ message }) => message).join("\n");
    assert.doesNotMatch(seen, /hunter2|hidden-|PRIVATE KEY/);
  });
});

describe("command plugin: process", function () {
  this.timeout(20_000);

  it("ends when the process that started it is gone", async function () {
    if (!isReplacement) this.skip();
    const main = path.resolve(__dirname, "../../../sandbox/command-plugin/main.js");
    const script = `const p = require("node:child_process").spawn(process.execPath, [${JSON.stringify(main)}], { stdio: ["ignore", "pipe", "ignore"] });
      p.stdout.once("data", () => console.log(p.pid)); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [data] = (await once(parent.stdout, "data", { signal: AbortSignal.timeout(10_000) })) as [Buffer];
    const plugin = Number(data.toString());
    assert.ok(alive(plugin));
    parent.kill("SIGKILL");
    await eventually("the plugin ends", () => !alive(plugin));
  });

  it("stops dialing when the engine cancels", async () => {
    const plugin = await PluginProcess.start();
    try {
      const pending = plugin.create(REMOTE, {
        connection: { host: "127.0.0.1", port: 1, dialErrorLimit: -1 },
        create: "true",
      });
      pending.catch(() => undefined);
      await eventually("an attempt failed", () => plugin.logs.some(({ message }) => /failed/.test(message)));
      await plugin.call("cancel", new Empty());
      await assert.rejects(pending, /cancel/i);
    } finally {
      await plugin.stop();
    }
  });
});

function asset(text: string): Properties {
  return { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", text, hash: "0" };
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
