import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

const FORESAIL = require.resolve("../../../../index");
/** A resource of foresail's program, and what it asks of Pulumi's SDK. */
const PROGRAM = `
  const pulumi = require("@pulumi/pulumi");
  const mocks = { call: ({ inputs }) => inputs, newResource: ({ inputs }) => ({ id: "id", state: inputs }) };
  void pulumi.runtime.setMocks(mocks).then(() => {
    require(${JSON.stringify(FORESAIL)});
    const messages = [];
    const { EngineClient } = require("@pulumi/pulumi/proto/engine_grpc_pb");
    EngineClient.prototype.log = (request, done) => { messages.push(request.getMessage()); done(); };
    const positions = [];
    const registered = pulumi.Resource.stackTrace;
    pulumi.Resource.stackTrace = (skip) => { positions.push(...registered(skip)); return []; };
    const { urn } = new pulumi.CustomResource("test:index:Resource", "one", { secret: pulumi.secret("hidden") });
    urn.apply(() => pulumi.log.info("shown")).apply(() =>
      console.log(JSON.stringify({ limit: Error.stackTraceLimit, positions: positions.length, messages })));
  });
`;

describe("foresail's program", () => {
  const diagnostics = (environment: NodeJS.ProcessEnv = {}) => {
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", PROGRAM], {
      cwd: __dirname,
      encoding: "utf8",
      timeout: 18_000,
      killSignal: "SIGKILL",
      // never called: the program replaces what would call it
      env: { ...process.env, PULUMI_NODEJS_ENGINE: "127.0.0.1:1", ...environment },
    });
    assert.match(stdout, /^\{/, stderr);
    return JSON.parse(stdout) as { limit: number; positions: number; messages: string[] };
  };

  it("costs Pulumi no stack traces and no debug messages of its resources", () => {
    assert.deepEqual(diagnostics(), { limit: 0, positions: 0, messages: ["shown"] });
  });

  it("has them on request", () => {
    const { limit, positions, messages } = diagnostics({ NODE_DEBUG: "foresail" });
    assert.ok(limit > 0 && positions > 0, `${limit}, ${positions}`);
    assert.ok(
      messages.some((message) => message.includes("Registering resource")),
      messages.join("\n"),
    );
  });
});
