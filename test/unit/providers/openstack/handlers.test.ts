import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { mock } from "node:test";
import {
  handlers as planHandlers,
  watchServerFaults,
} from "../../../../providers/openstack/resources/cloud-plan-handlers";
import { handlers as markHandlers } from "../../../../providers/openstack/resources/initialized-mark-handlers";
import { handlers as keyHandlers } from "../../../../providers/openstack/resources/server-host-key-handlers";
import { PartialFailure } from "../../../../lib/pulumi/failure";
import { answerSteps, newKey, TestSshServer } from "../../../support/ssh-server";
import { exampleMachine, exampleSpecification } from "../kubeadm/machine/examples";
import { CloudServer, ok, readCloud, type Answer, type Request } from "./cloud-server";
import { UNKNOWN } from "../../../../lib/unknown";

/** A cloud with one flavor, one image, one external network and room for three servers. */
function smallCloud(request: Request): Answer | undefined {
  const { method, path: ref } = request;
  if (ref === "/compute/v2.1/limits")
    return ok({ limits: { absolute: { maxTotalInstances: 3, totalInstancesUsed: 2 } } });
  if (method === "POST" && ref.endsWith("/metadata")) return ok({ metadata: {} });
  return readCloud(request);
}

describe("the handlers of OpenStack's resources", () => {
  let cloud: CloudServer;
  let folder: string;
  const before = process.env.OS_CLIENT_CONFIG_FILE;

  async function start(service: (request: Request) => Answer | undefined = smallCloud): Promise<void> {
    cloud = new CloudServer(service);
    await cloud.listen();
    folder = mkdtempSync(path.join(tmpdir(), "foresail-cloud-"));
    process.env.OS_CLIENT_CONFIG_FILE = path.join(folder, "clouds.yaml");
    const auth = `{auth_url: "${cloud.url}", application_credential_id: a, application_credential_secret: s}`;
    writeFileSync(process.env.OS_CLIENT_CONFIG_FILE, `clouds: {eu1: {region_name: one, auth: ${auth}}}`);
  }

  afterEach(async () => {
    await cloud.close();
    rmSync(folder, { recursive: true, force: true });
    if (before === undefined) delete process.env.OS_CLIENT_CONFIG_FILE;
    else process.env.OS_CLIENT_CONFIG_FILE = before;
  });

  describe("CloudPlan", () => {
    const server = (name: string, over: object = {}) => ({
      name,
      pool: "w",
      flavor: "m1",
      image: "debian",
      ...over,
    });
    const desired = (over: object = {}) => ({
      cluster: "demo",
      cloud: "eu1",
      servers: [server("w-1-aaaaa")],
      externalNetwork: "public",
      loadBalancer: false,
      floatingIps: 0,
      arriving: [],
      steps: [] as string[],
      leaving: [],
      later: [],
      ...over,
    });

    it("warns in each preview of a cloud whose certificate is not verified", async () => {
      await start();
      const log = mock.method(console, "log", () => undefined);
      const warnings = async () => {
        log.mock.resetCalls();
        await planHandlers.check!({}, desired());
        return log.mock.calls
          .map(({ arguments: [line] }) => String(line))
          .filter((line) => /warning/.test(line));
      };
      assert.deepEqual(await warnings(), []);
      const file = process.env.OS_CLIENT_CONFIG_FILE!;
      writeFileSync(file, readFileSync(file, "utf8").replace("region_name:", "verify: false, region_name:"));
      for (let preview = 1; preview <= 2; preview++)
        assert.match(
          (await warnings()).join(),
          /^CloudPlan demo: warning: TLS .* not verified \(`verify: false`/,
        );
      log.mock.restore();
    });

    it("resolves names, and refuses nothing that the cloud has", async () => {
      await start();
      const checked = await planHandlers.check!({}, desired());
      assert.deepEqual(checked.failures, []);
      assert.deepEqual((checked.inputs as { found: object }).found, {
        images: { debian: "i1" },
        flavors: { m1: "f1" },
        externalNetworkId: "n1",
        authUrl: `${cloud.url}/v3`,
        region: "one",
      });
    });

    it("is updated when the region becomes known, which the cluster's own programs need", async () => {
      await start();
      const { inputs } = (await planHandlers.check!({}, desired())) as {
        inputs: { found: { region?: string } };
      };
      const { region: _, ...before } = inputs.found;
      const changes = async (olds: object) => (await planHandlers.diff!("demo", olds, inputs)).changes;
      assert.equal(await changes(inputs), false);
      assert.equal(await changes({ ...inputs, found: before }), true);
    });

    it("refuses an unusable flavor and too many servers, with their paths", async () => {
      await start();
      const servers = [server("w-1-aaaaa", { flavor: "huge" }), server("w-2-bbbbb")];
      const { failures } = await planHandlers.check!(
        {},
        desired({ servers, arriving: servers.map(({ name }) => name) }),
      );
      const paths = failures!.map(({ property }) => property);
      assert.deepEqual(paths, ["openstack.pools.w.flavor", "openstack.pools"]);
    });

    it("refuses to continue with a recorded server in ERROR, and ignores one that is not recorded", async () => {
      const failed = { id: "s1", name: "w-1-aaaaa", status: "ERROR" };
      await start((request) => {
        if (request.path.includes("/servers/detail?name=")) return ok({ servers: [failed] });
        return request.path.endsWith("/servers/s1") ? ok({ server: failed }) : smallCloud(request);
      });
      const failures = async (known: string[]) =>
        (await planHandlers.check!({}, desired({ known }))).failures!.map(({ property }) => property);
      assert.deepEqual(await failures(["s1"]), ["openstack.pools.w"]);
      assert.deepEqual(await failures([]), []);
    });

    it("refuses what is impossible on any cloud, with its path", async () => {
      await start();
      const refusals = [{ property: "openstack.network", reason: "the load balancer would be lost" }];
      const answer = await planHandlers.check!({}, desired({ refusals }));
      assert.deepEqual(answer.failures, refusals);
      assert.ok(!("refusals" in (answer.inputs as object)));
      assert.deepEqual(cloud.calls, []);
    });

    it("refuses a new cluster on a cloud that does not answer, and accepts an existing one", async () => {
      await start();
      const unknown = await planHandlers.check!({}, desired({ cloud: "eu9" }));
      assert.match(unknown.failures![0]!.reason, /has no entry "eu9"/);
      const found = { images: {}, flavors: {}, authUrl: "x" };
      const existing = (await planHandlers.check!({ found }, desired({ cloud: "eu9" }))) as {
        inputs: { found: object };
        failures: object[];
      };
      assert.deepEqual([existing.failures, existing.inputs.found], [[], found]);
    });

    it("refuses to go on when the cloud refuses the credentials, also for an existing cluster", async () => {
      await start();
      cloud.authenticationFaults.push({ status: 401, body: { error: { message: "wrong secret" } } });
      const found = { images: {}, flavors: {}, authUrl: "x" };
      const { failures } = await planHandlers.check!({ found }, desired());
      assert.match(failures![0]!.reason, /401.*wrong secret/);
    });

    it("reports during the run why a server can't be created, once, and ends when the others are up", async () => {
      let looks = 0;
      await start(({ path: ref }) => {
        const failed = { id: "s1", name: "w-1-aaaaa", status: "ERROR" };
        if (ref.startsWith("/compute/v2.1/servers/detail?name=")) {
          looks++;
          if (looks === 1) return { status: 500 };
          return ok({
            servers: [failed, { id: "s2", name: "w-2-bbbbb", status: looks > 2 ? "ACTIVE" : "BUILD" }],
          });
        }
        const fault = { message: "No valid host was found" };
        return ref.endsWith("/servers/s1") ? ok({ server: { ...failed, fault } }) : undefined;
      });
      const said: string[] = [];
      const arriving = ["w-1-aaaaa", "w-2-bbbbb"];
      await watchServerFaults({ cloud: "eu1" }, arriving, (line) => said.push(line), 5);
      assert.equal(said.length, 1);
      assert.match(said[0]!, /^w-1-aaaaa could not be made: No valid host was found\. What to do: /);
      assert.equal(looks, 3);
    });

    it("changes for another spec and for machines to replace, not for ids or lines of later runs", async () => {
      await start();
      const differs = async (news: object) => (await planHandlers.diff!("demo", desired(), news)).changes;
      assert.equal(await differs(desired({ found: { images: {} }, later: ["then"] })), false);
      assert.equal(await differs(desired({ steps: ["w-1: is made"] })), true);
      assert.equal(await differs(desired({ servers: [] })), true);
    });
  });

  describe("InitializedMark", () => {
    let ssh: TestSshServer;
    let answers: string[];

    beforeEach(async () => {
      answers = [];
      // the script is not run: it would change this machine
      ssh = await new TestSshServer(answerSteps(() => answers.shift() ?? "1.0.0\n")).listen();
    });
    afterEach(() => ssh.close());

    const inputs = (servers: Record<string, string>) => ({
      __provider: "",
      specification: exampleSpecification(),
      credentials: { privateKey: ssh.userKey.private },
      timeouts: { ssh: 10, prepare: 10, init: 10, join: 10, ready: 20 },
      cloud: "eu1",
      machines: Object.keys(servers).map((name) =>
        exampleMachine(name, {
          address: "127.0.0.1",
          port: ssh.port,
          user: "root",
          hostKey: ssh.hostKey.public,
        }),
      ),
      servers,
    });

    it("marks a server when its agent has reported, and waits until then", async () => {
      await start();
      answers = ["", "", "1.0.0\n"];
      const outs: unknown = (await markHandlers.create(inputs({ "w-1": "s1" }))).outs;
      assert.deepEqual((outs as { marked: object }).marked, { "w-1": "s1" });
      assert.equal(answers.length, 0);
      assert.deepEqual(
        cloud.requests.filter(({ method, path: ref }) => method === "POST" && ref.includes("/servers/")),
        [
          {
            method: "POST",
            path: "/compute/v2.1/servers/s1/metadata",
            token: "token-1",
            body: { metadata: { "foresail-initialized": "true" } },
          },
        ],
      );
    });

    it("keeps what is marked when another server fails, and retries only that one", async () => {
      await start((request) =>
        request.path.includes("/servers/s2/")
          ? { status: 404, body: { itemNotFound: { message: "gone" } } }
          : smallCloud(request),
      );
      const desired = inputs({ "w-1": "s1", "w-2": "s2" });
      const failure = await markHandlers.create(desired).then(
        () => assert.fail("it should fail"),
        (error: unknown) => error as PartialFailure,
      );
      assert.ok(failure instanceof PartialFailure);
      assert.match(failure.message, /w-2.*mark as initialized.*\(NotFound\)/s);
      const olds = failure.properties as { marked: object };
      assert.deepEqual(olds.marked, { "w-1": "s1" });
      assert.equal((await markHandlers.diff!("demo", olds, desired)).changes, true);
    });

    it("lists the same lines before and after the server's id is known", async () => {
      await start();
      const steps = async (id: string) => {
        const checked = await markHandlers.check!(
          inputs({ "w-1": "s1" }),
          inputs({ "w-1": "s1", "w-2": id }),
        );
        return (checked.inputs as { steps: string[] }).steps;
      };
      assert.deepEqual(await steps(UNKNOWN), [
        "w-2: wait for its node agent, then mark its server as initialized",
      ]);
      assert.deepEqual(await steps("s2"), await steps(UNKNOWN));
    });
  });

  describe("ServerHostKey", () => {
    let ssh: TestSshServer;
    beforeEach(async () => {
      ssh = await new TestSshServer().listen();
    });
    afterEach(() => ssh.close());

    const inputs = () => ({
      machine: "w-1",
      server: "s1",
      cloud: "eu1",
      address: "127.0.0.1",
      port: ssh.port,
      credentials: {},
      timeoutSeconds: 10,
    });
    const keyOf = (outs: unknown) => {
      const { hostKey, confirmed } = outs as { hostKey: string; confirmed: boolean };
      return [hostKey, confirmed];
    };
    const showing = (key: string) => (request: Request) =>
      request.path === "/compute/v2.1/servers/s1/action"
        ? ok({
            output: `-----BEGIN SSH HOST KEY KEYS-----\n${key} root@w-1\n-----END SSH HOST KEY KEYS-----\n`,
          })
        : undefined;

    it("pins the key that both the machine and its console show", async () => {
      await start(showing(ssh.hostKey.public));
      const outs: unknown = (await keyHandlers.create(inputs())).outs;
      assert.deepEqual(keyOf(outs), [ssh.hostKey.public, true]);
    });

    it("refuses a machine that shows another key than the console", async () => {
      await start(showing(newKey().public));
      await assert.rejects(keyHandlers.create(inputs()), /another machine answers at 127\.0\.0\.1/);
    });

    it("pins at first contact where the cloud shows no console", async () => {
      await start(() => ({ status: 404, body: { itemNotFound: { message: "no console" } } }));
      const outs: unknown = (await keyHandlers.create(inputs())).outs;
      assert.deepEqual(keyOf(outs), [ssh.hostKey.public, false]);
    });

    it("refuses a first contact when the console has to show the key", async () => {
      const required = () => ({ ...inputs(), requireConsole: true });
      let console = (_request: Request): ReturnType<ReturnType<typeof showing>> => ({
        status: 404,
        body: { itemNotFound: { message: "no console" } },
      });
      await start((request) => console(request));
      await assert.rejects(keyHandlers.create(required()), /requireHostKeys allows no first contact/);
      console = showing(ssh.hostKey.public);
      const outs: unknown = (await keyHandlers.create(required())).outs;
      assert.deepEqual(keyOf(outs), [ssh.hostKey.public, true]);
    });

    it("keeps the key, and reads another for another server", async () => {
      await start();
      const olds = inputs();
      const moved = await keyHandlers.diff!("w-1", olds, { ...olds, address: "192.0.2.9", port: 222 });
      assert.equal(moved.changes, false);
      const another = await keyHandlers.diff!("w-1", olds, { ...olds, server: "s2" });
      assert.deepEqual(another.replaces, ["server"]);
    });
  });
});
