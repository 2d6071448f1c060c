import assert from "node:assert/strict";
import fc from "fast-check";
import { readFleet } from "../../../../cli/fleet/plan/fleet";
import { fleetId, LOCKED_FAILURE, lockWaits, queueOf, regionsOf } from "../../../../cli/fleet/plan/temporal";
import { temporalAccess, TemporalServer } from "../../../../cli/fleet/plan/temporal-server";
import { loadSdk } from "../../../../cli/fleet/temporal/connection";
import { pack, unpack } from "../../../../cli/fleet/temporal/packed";
import { runnerOf, serverOf } from "../../../../cli/fleet/temporal/server";
import { CommandError } from "../../../../cli/terminal/exit-codes";

const server = (fields: object = {}) => TemporalServer.parse(fields);
const waves = [{ name: "all", stacks: ["a"] }];

describe("the runner of a fleet", () => {
  it("is this machine, unless fleet.yaml or the command line says otherwise", () => {
    const local = readFleet({ waves }, ["a"]).fleet!;
    const temporal = readFleet({ waves, runner: { temporal: { namespace: "prod" } } }, ["a"]).fleet!;
    assert.equal(runnerOf(local, undefined), "local");
    assert.equal(runnerOf(local, "temporal"), "temporal");
    assert.equal(runnerOf(temporal, undefined), "temporal");
    assert.equal(runnerOf(temporal, "local"), "local");
    assert.deepEqual(serverOf(local), { address: "127.0.0.1:7233", namespace: "default" });
    assert.deepEqual(serverOf(temporal), { address: "127.0.0.1:7233", namespace: "prod" });
  });

  it("has a strict schema in fleet.yaml", () => {
    const cases: [runner: object, path: string][] = [
      [{ temporal: { adress: "a:1" } }, "runner.temporal.adress"],
      [{ temporal: { address: "https://a:1" } }, "runner.temporal.address"],
      [{ temporal: { address: "a" } }, "runner.temporal.address"],
      [{ temporal: { namespace: "a b" } }, "runner.temporal.namespace"],
      [{ argo: {} }, "runner.argo"],
    ];
    for (const [runner, path] of cases) {
      const { fleet, issues } = readFleet({ waves, runner }, ["a"]);
      assert.equal(fleet, undefined);
      assert.ok(
        issues.some((issue) => issue.path.join(".").startsWith(path.split(".")[0]!)),
        path,
      );
    }
  });
});

describe("the connection to a Temporal server", () => {
  it("is encrypted unless the server is on this machine, or with any credentials", () => {
    const cases: [fields: object, environment: Record<string, string>, isEncrypted: boolean][] = [
      [{}, {}, false],
      [{ address: "localhost:7233" }, {}, false],
      [{ address: "[::1]:7233" }, {}, false],
      [{ address: "127.0.0.1.example.com:7233" }, {}, true],
      [{ address: "temporal.example.com:7233" }, {}, true],
      [{ address: "temporal.example.com:7233", tls: false }, {}, false],
      [{ tls: true }, {}, true],
      [{}, { TEMPORAL_ADDRESS: "10.0.0.1:7233" }, true],
      [{ tls: false }, { TEMPORAL_API_KEY: "key" }, true],
      [{ tls: false }, { TEMPORAL_TLS_CLIENT_CERT_PATH: "cert.pem" }, true],
    ];
    for (const [fields, environment, isEncrypted] of cases)
      assert.equal(
        temporalAccess(server(fields), environment).isEncrypted,
        isEncrypted,
        JSON.stringify(fields),
      );
  });

  it("takes the variables of Temporal's own command over fleet.yaml", () => {
    const access = temporalAccess(server({ address: "a.example.com:1", namespace: "one" }), {
      TEMPORAL_ADDRESS: "b.example.com:2",
      TEMPORAL_NAMESPACE: "two",
      TEMPORAL_API_KEY: "key",
      TEMPORAL_TLS_SERVER_NAME: "c.example.com",
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: "ca.pem",
      TEMPORAL_TLS_CLIENT_CERT_PATH: "cert.pem",
      TEMPORAL_TLS_CLIENT_KEY_PATH: "key.pem",
    });
    assert.deepEqual(access, {
      ...{ address: "b.example.com:2", namespace: "two", isEncrypted: true, apiKey: "key" },
      serverName: "c.example.com",
      files: { authority: "ca.pem", certificate: "cert.pem", key: "key.pem" },
    });
    assert.deepEqual(temporalAccess(server(), { TEMPORAL_ADDRESS: "" }).address, "127.0.0.1:7233");
  });

  it("says how to install the SDK when it is missing, and keeps other errors", async () => {
    const missing = Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" });
    await assert.rejects(
      loadSdk(() => Promise.reject(missing)),
      (error: Error) =>
        error instanceof CommandError && /npm install --save-exact @temporalio\/client@/.test(error.message),
    );
    await assert.rejects(
      loadSdk(() => Promise.reject(new Error("other"))),
      { message: "other" },
    );
  });
});

describe("the regions of a fleet", () => {
  it("are the label of each stack; a stack without it is an issue that says what to write", () => {
    const fleet = {
      waves: [
        { name: "one", stacks: ["a", "b"] },
        { name: "two", stacks: ["c"] },
      ],
    };
    const { regions, issues } = regionsOf(fleet, { a: { region: "eu1" }, b: { stage: "canary" } });
    assert.deepEqual(regions, { a: "eu1" });
    assert.deepEqual(
      issues.map(({ path }) => path),
      [["b"], ["c"]],
    );
    assert.match(issues[0]!.message, /set foresail:labels: \{region: …\} in its stack file or layer/);
  });

  it("have a task queue each, under the fleet's name", () => {
    assert.equal(queueOf(fleetId("web", {}), "eu1"), "foresail/web/web/eu1");
    assert.equal(queueOf(fleetId("web", { name: "prod" }), "us1"), "foresail/web/prod/us1");
  });
});

describe("what a server has given to workers", () => {
  it("says which stacks wait for a lock, and nothing of other work", () => {
    const failure = (type: string) => ({
      lastFailure: { message: `of ${type}`, applicationFailureInfo: { type } },
    });
    const pending = [{}, { lastFailure: null }, failure(LOCKED_FAILURE), failure("WorkerStopped")];
    assert.deepEqual(lockWaits(pending), [`of ${LOCKED_FAILURE}`]);
    assert.deepEqual(lockWaits(undefined), []);
  });
});

describe("a packed plan", () => {
  it("is the plan again when it is unpacked (property)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => assert.equal(unpack(pack("a", text)), text)),
    );
  });

  it("is refused when it is longer than a message may be", () => {
    const text = Array.from({ length: 300_000 }, (_, index) => Math.sin(index)).join();
    assert.throws(() => pack("prod-eu1", text), /the plan of prod-eu1 is too long for a Temporal server/);
  });
});
