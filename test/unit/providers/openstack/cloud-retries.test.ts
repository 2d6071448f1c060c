import assert from "node:assert/strict";
import { Cloud } from "../../../../providers/openstack/client/cloud";
import { CloudUnreachable } from "../../../../providers/openstack/client/errors";
import { CloudServer, type Answer } from "./cloud-server";

describe("a cloud that does not answer at once", () => {
  let server: CloudServer;
  let cloud: Cloud;
  const limits = { status: 200, body: { limits: { absolute: {} } } };

  async function open(service: () => Answer, seconds = 20): Promise<Cloud> {
    server = new CloudServer(service);
    await server.listen();
    const configuration = { auth: {}, region: "one", interface: "public", verify: true };
    cloud = new Cloud({ authUrl: `${server.url}/v3`, ...configuration }, { seconds });
    return cloud;
  }

  afterEach(async () => {
    cloud.close();
    await server.close();
  });

  it("retries transient errors, and reports the last one at the deadline", async () => {
    let left = 2;
    const open_ = await open(() => (left-- > 0 ? { status: 503, body: {} } : limits));
    await open_.call("compute", "GET", "/limits");
    assert.equal(server.calls.length, 3);
    await server.close();
    cloud.close();
    const down = await open(
      () => ({ status: 500, body: { computeFault: { message: "the database is away" } } }),
      1,
    );
    await assert.rejects(down.call("compute", "GET", "/limits"), (error: CloudUnreachable) => {
      assert.ok(error instanceof CloudUnreachable);
      assert.match(error.message, /last seen: 500 the database is away/);
      return true;
    });
  });

  it("waits as long as Keystone and a service ask for, within the deadline", async () => {
    const asked: number[] = [];
    const busy = { status: 429, body: {}, headers: { "Retry-After": "1" } };
    const open_ = await open(() => (asked.push(Date.now()) === 1 ? busy : limits));
    server.authenticationFaults.push(busy);
    const begin = Date.now();
    await open_.call("compute", "GET", "/limits");
    const [first = 0, second = 0] = asked;
    assert.ok(first - begin >= 1000, `Keystone was asked again after ${first - begin} ms`);
    assert.ok(second - first >= 1000, `nova was asked again after ${second - first} ms`);
    await server.close();
    cloud.close();
    const down = await open(() => ({ ...busy, headers: { "Retry-After": "3600" } }), 1);
    await assert.rejects(down.call("compute", "GET", "/limits"), CloudUnreachable);
  });
});
