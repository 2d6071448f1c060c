import assert from "node:assert/strict";
import { Cloud } from "../../../../providers/openstack/client/cloud";
import type { CloudConfiguration } from "../../../../providers/openstack/client/cloud-configuration";
import { CloudRefusal } from "../../../../providers/openstack/client/errors";
import { listServers, readCloudFacts, setServerMetadata } from "../../../../providers/openstack/client/facts";
import { CloudServer, type Answer, type Request } from "./cloud-server";

const SECRET = "very-secret-word";
const CREDENTIAL = {
  identity: { methods: ["application_credential"], application_credential: { id: "app", secret: SECRET } },
};

const NO_MACHINES = {
  servers: "^w-",
  cluster: "demo",
  serverIds: {},
  networkObjects: [],
  images: [],
  flavors: [],
};

const portQuota = { limit: 9, used: 6, reserved: 2 };

describe("a cloud's APIs", () => {
  let server: CloudServer;
  let cloud: Cloud | undefined;

  async function open(
    service: (request: Request) => Answer | undefined,
    over: Partial<CloudConfiguration> = {},
    seconds = 20,
  ): Promise<Cloud> {
    server = new CloudServer(service);
    await server.listen();
    cloud = new Cloud(
      {
        authUrl: `${server.url}/v3`,
        auth: CREDENTIAL,
        region: "one",
        interface: "public",
        verify: true,
        ...over,
      },
      { seconds },
    );
    return cloud;
  }

  afterEach(async () => {
    cloud?.close();
    await server.close();
  });

  const limits = { status: 200, body: { limits: { absolute: {} } } };

  it("authenticates with the credentials, and uses the region's public endpoint", async () => {
    const open_ = await open(() => limits);
    await open_.call("compute", "GET", "/limits");
    assert.deepEqual(server.requests[0]?.body, { auth: CREDENTIAL });
    assert.deepEqual(server.calls, ["GET /compute/v2.1/limits"]);
  });

  it("adds the version that a catalog leaves out", async () => {
    const open_ = await open(() => ({ status: 200, body: {} }));
    await open_.call("network", "GET", "/networks");
    await open_.call("image", "GET", "/images");
    assert.deepEqual(server.calls, ["GET /network/v2.0/networks", "GET /image/v2/images"]);
  });

  it("uses one token for many calls, and renews it before it runs out", async () => {
    const open_ = await open(() => limits);
    await open_.call("compute", "GET", "/limits");
    await open_.call("compute", "GET", "/limits");
    assert.equal(server.tokens, 1);
    server.tokenSeconds = 60;
    server.revoked.add("token-1");
    await open_.call("compute", "GET", "/limits");
    assert.equal(server.tokens, 2);
    await open_.call("compute", "GET", "/limits");
    assert.equal(server.tokens, 3, "a token of one minute is not trusted for another call");
  });

  it("refuses when a new token is refused, too", async () => {
    const open_ = await open(() => ({ status: 401, body: { error: { message: "no" } } }));
    await assert.rejects(
      open_.call("compute", "GET", "/limits"),
      (error: CloudRefusal) => error.code === "AuthenticationRefused" && server.tokens === 2,
    );
  });

  it("reports refused credentials at once and without showing them", async () => {
    const open_ = await open(() => limits);
    server.authenticationFaults.push({
      status: 401,
      body: { error: { message: `could not find application credential with password=${SECRET}` } },
    });
    await assert.rejects(open_.call("compute", "GET", "/limits"), (error: CloudRefusal) => {
      assert.ok(error instanceof CloudRefusal);
      assert.equal(error.code, "AuthenticationRefused");
      assert.match(error.next, /clouds\.yaml/);
      return true;
    });
    assert.equal(server.requests.length, 1);
  });

  const refusals: [number, unknown, string, RegExp][] = [
    [
      403,
      { forbidden: { message: "Quota exceeded for instances: Requested 1, but already used 10 of 10" } },
      "QuotaExceeded",
      /already used 10 of 10/,
    ],
    [403, { forbidden: { message: "Policy doesn't allow it" } }, "NotAllowed", /Policy/],
    [404, { itemNotFound: { message: "Instance x could not be found." } }, "NotFound", /could not be found/],
    [
      409,
      { NeutronError: { type: "OverQuota", message: "Quota exceeded for resources: ['port']." } },
      "QuotaExceeded",
      /port/,
    ],
    [409, { conflictingRequest: { message: "is being deleted" } }, "Conflict", /deleted/],
    [400, { badRequest: { message: "No valid host was found." } }, "NoValidHost", /host/],
  ];
  for (const [status, body, code, words] of refusals)
    it(`recognizes ${code} in a ${status}`, async () => {
      const open_ = await open(() => ({ status, body }));
      await assert.rejects(open_.call("compute", "POST", "/servers", {}), (error: CloudRefusal) => {
        assert.equal(error.code, code);
        assert.match(error.message, words);
        assert.ok(error.next.length > 10);
        return true;
      });
    });

  it("sends its token to no other origin, wherever a next page or a redirect points", async () => {
    const other = new CloudServer();
    await other.listen();
    const open_ = await open(({ path }) => {
      const next = `${other.url}/compute/v2.1/flavors/detail?marker=f1`;
      const links = path.includes("marker") ? {} : { flavors_links: [{ rel: "next", href: next }] };
      if (path.includes("/flavors/")) return { status: 200, body: { flavors: [{ id: path }], ...links } };
      return { status: 302, headers: { location: `${other.url}/limits` } };
    });
    const flavors = await open_.list<{ id: string }>("compute", "/flavors/detail", "flavors");
    assert.deepEqual(
      flavors.map(({ id }) => id),
      ["/compute/v2.1/flavors/detail", "/compute/v2.1/flavors/detail?marker=f1"],
    );
    await assert.rejects(open_.call("compute", "GET", "/limits"), { status: 302 });
    assert.deepEqual(other.requests, []);
    await other.close();
  });

  it("refuses an answer without end at once", async () => {
    const open_ = await open(() => ({ status: 200, body: "x".repeat(33 * 2 ** 20) }));
    await assert.rejects(open_.call("compute", "GET", "/limits"), {
      code: "AnswerTooLarge",
      message: `GET ${server.url}/compute/v2.1/limits: the answer is larger than 32 MiB`,
    });
    assert.equal(server.calls.length, 1);
  });

  it("reads what a run needs to know, page by page", async () => {
    const open_ = await open(({ path }) => {
      const ok = (body: unknown) => ({ status: 200, body });
      if (path.startsWith("/compute/v2.1/flavors/detail?marker=f1"))
        return ok({ flavors: [{ id: "f2", name: "large", vcpus: 8, ram: 16384, disk: 80 }] });
      if (path.startsWith("/compute/v2.1/flavors/detail"))
        return ok({
          flavors: [{ id: "f1", name: "small", vcpus: 2, ram: 4096, disk: 20 }],
          flavors_links: [{ rel: "next", href: `${server.url}/compute/v2.1/flavors/detail?marker=f1` }],
        });
      if (path === "/image/v2/images?limit=500")
        return ok({
          images: [
            { id: "i1", name: "debian", status: "active", min_disk: 5, min_ram: 0, size: 3 * 2 ** 30 },
            {
              id: "i3",
              name: "packed",
              status: "active",
              min_disk: 0,
              min_ram: 0,
              size: 2 ** 29,
              virtual_size: 2 ** 31 + 1,
            },
          ],
          next: "/v2/images?limit=500&marker=i1",
        });
      if (path.startsWith("/image/v2/images?"))
        return ok({
          images: [{ id: "i2", name: null, status: "queued", min_disk: 0, min_ram: 0, size: null }],
        });
      if (path.startsWith("/compute/v2.1/os-availability-zone"))
        return ok({ availabilityZoneInfo: [{ zoneName: "az1", zoneState: { available: true } }] });
      if (path.startsWith("/network/v2.0/networks")) return ok({ networks: [{ id: "n1", name: "public" }] });
      if (path.startsWith("/compute/v2.1/servers/detail?name="))
        return ok({
          servers: [
            { id: "s1", name: "w-1-aaaaa", status: "ERROR" },
            { id: "s2", name: "w-2-bbbbb", status: "ERROR", metadata: { "foresail-initialized": "true" } },
          ],
        });
      if (path === "/compute/v2.1/servers/s1")
        return ok({ server: { fault: { message: "No valid host was found" } } });
      if (path === "/compute/v2.1/servers/s3") return ok({ server: { name: "renamed", status: "SHUTOFF" } });
      if (path === "/image/v2/images/i9")
        return ok({ id: "i9", name: "hidden", status: "active", min_disk: 1, min_ram: 0 });
      if (path === "/network/v2.0/quotas/tenant") return ok({ tenant: { tenant_id: "p1" } });
      if (path === "/network/v2.0/quotas/p1/details.json")
        return ok({ quota: { floatingip: { limit: 50, used: 3, reserved: 0 }, port: portQuota } });
      if (path === "/volume/v3/types") return ok({ volume_types: [{ id: "t1", name: "ssd" }] });
      if (path === "/volume/v3/os-quota-sets/p1?usage=true")
        return ok({
          quota_set: {
            id: "p1",
            volumes: { limit: 10, in_use: 3, reserved: 1 },
            gigabytes_ssd: { limit: -1, in_use: 120, reserved: 0 },
          },
        });
      if (path === "/compute/v2.1/limits")
        return ok({
          limits: {
            absolute: { maxTotalInstances: 10, totalInstancesUsed: 3, maxTotalCores: -1, totalCoresUsed: 9 },
          },
        });
      return undefined;
    });
    const facts = await readCloudFacts(open_, {
      servers: "^w-",
      serverIds: { "w-1-aaaaa": "s1", "w-3-ccccc": "s3", "w-4-ddddd": "s4" },
      images: ["debian", "i9", "nothing"],
      flavors: ["small", "nothing"],
      newNetworkObjects: true,
      ...{ cluster: "demo", networkObjects: [], withRootVolume: ["w-2-bbbbb"] },
    });
    assert.deepEqual(facts.recorded, {
      "w-1-aaaaa": "ERROR",
      "w-3-ccccc": "SHUTOFF",
      "w-4-ddddd": undefined,
    });
    assert.deepEqual(
      facts.flavors.map(({ name }) => name),
      ["small", "large"],
    );
    assert.deepEqual(
      facts.images.map(({ name, status, minDisk }) => `${name} ${status} ${minDisk}`),
      ["debian active 5", "packed active 3", " queued 0", "hidden active 1"],
    );
    assert.deepEqual(facts.compute, {
      instances: { limit: 10, used: 3 },
      cores: { limit: -1, used: 9 },
      ram: { limit: -1, used: 0 },
      serverGroups: { limit: -1, used: 0 },
    });
    assert.deepEqual(
      [facts.zones[0]?.name, facts.externalNetworks[0]?.id, facts.servers],
      ["az1", "n1", ["w-1-aaaaa", "w-2-bbbbb"]],
    );
    // a server that has worked is not an obstacle to a run
    assert.deepEqual(facts.failed, [{ id: "s1", name: "w-1-aaaaa", reason: "No valid host was found." }]);
    assert.equal(facts.hasLoadBalancer, false);
    assert.deepEqual(facts.network, { floatingip: { limit: 50, used: 3 }, port: { limit: 9, used: 8 } });
    assert.deepEqual(facts.volumes, {
      types: [{ id: "t1", name: "ssd" }],
      quota: { volumes: { limit: 10, used: 4 }, gigabytes_ssd: { limit: -1, used: 120 } },
    });
  });

  it("omits the quotas for floating IPs and volumes where a project may not read them", async () => {
    const open_ = await open(({ path }) => {
      if (path === "/compute/v2.1/limits") return limits;
      if (/\/(quotas|os-quota-sets)\//.test(path))
        return { status: 403, body: { NeutronError: { message: "not for you" } } };
      return { status: 200, body: {} };
    });
    const { network, volumes } = await readCloudFacts(open_, {
      ...NO_MACHINES,
      newNetworkObjects: true,
      withRootVolume: ["w-1-aaaaa"],
    });
    assert.equal(network, undefined);
    assert.deepEqual(volumes, { types: [] });
  });

  for (const [rootVolumes, hasVolumes, why] of [
    [false, true, "none are wanted"],
    [true, false, "the cloud has no service for them"],
  ] as const)
    it(`asks nothing about volumes where ${why}`, async () => {
      const open_ = await open(({ path }) =>
        path === "/compute/v2.1/limits" ? limits : { status: 200, body: {} },
      );
      server.hasVolumes = hasVolumes;
      const { volumes } = await readCloudFacts(open_, {
        ...NO_MACHINES,
        newNetworkObjects: false,
        withRootVolume: rootVolumes ? ["w-1-aaaaa"] : [],
      });
      assert.equal(volumes, undefined);
      assert.ok(!server.calls.some((call) => call.includes("/volume/")));
    });

  it("lists servers only by their names", async () => {
    const servers = [
      { id: "s1", name: "w-1-aaaaa", status: "ERROR" },
      { id: "s2", name: "shop", status: "ACTIVE" },
    ];
    const open_ = await open(({ path }) =>
      path.startsWith("/compute/v2.1/servers/detail?name=") ? { status: 200, body: { servers } } : undefined,
    );
    assert.deepEqual(await listServers(open_, ["w-1-aaaaa", "w-2-bbbbb"]), servers.slice(0, 1));
    assert.deepEqual(await listServers(open_, []), []);
    assert.equal(server.calls.length, 1);
  });

  it("sets single keys of a server's metadata", async () => {
    const open_ = await open(() => ({ status: 200, body: { metadata: {} } }));
    await setServerMetadata(open_, "s1", { "foresail-initialized": "true" });
    assert.deepEqual(server.calls, ["POST /compute/v2.1/servers/s1/metadata"]);
    assert.deepEqual(server.requests.at(-1)?.body, { metadata: { "foresail-initialized": "true" } });
  });
});
