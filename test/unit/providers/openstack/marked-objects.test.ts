import assert from "node:assert/strict";
import { Cloud } from "../../../../providers/openstack/client/cloud";
import { deleteObject, readMarkedObjects } from "../../../../providers/openstack/client/marked-objects";
import { markedDescription } from "../../../../lib/pulumi/marks";
import { CloudServer, type Answer, type Request } from "./cloud-server";

const MARK = "0a1b2c";
const DESCRIPTION = markedDescription(MARK);

/** Octavia with the parts of one load balancer, and a user's application credentials in Keystone. */
class Services {
  readonly deleted: string[] = [];
  private readonly lists: Readonly<Record<string, [string, object[]]>> = {
    "/lbaas/loadbalancers": ["loadbalancers", [{ id: "b", name: "demo-api", description: DESCRIPTION }]],
    "/lbaas/listeners": ["listeners", [{ id: "l", name: "demo-api", description: DESCRIPTION }]],
    "/lbaas/pools": [
      "pools",
      [
        { id: "p", name: "demo-api", description: DESCRIPTION },
        { id: "q", name: "shop", description: "by hand" },
      ],
    ],
    "/lbaas/pools/p/members": ["members", [{ id: "m", name: "cp-1-aaaaa" }]],
    "/lbaas/pools/q/members": ["members", [{ id: "n", name: "shop-1" }]],
    "/lbaas/healthmonitors?pool_id=p": ["healthmonitors", [{ id: "h", name: "demo-api" }]],
    "/users/u1/application_credentials": [
      "application_credentials",
      [
        { id: "c", name: `foresail-demo-${MARK}` },
        { id: "d", name: "by hand" },
      ],
    ],
  };

  readonly answer = ({ method, path }: Request): Answer | undefined => {
    const ref = path.replace(/^\/(load-balancer\/v2(\.0)?|identity\/v3)/, "");
    if (method === "DELETE") {
      this.deleted.push(ref);
      return { status: 204 };
    }
    const found = this.lists[ref] ?? this.lists[ref.replace(/[?].*/, "")];
    if (found) return { status: 200, body: { [found[0]]: found[1] } };
    const [field] = (path.split("/").at(-1) ?? "").split("?");
    const isOther = /^\/(compute|network)\//.test(path);
    if (isOther && field) return { status: 200, body: { [FIELDS[field] ?? field]: [] } };
    return undefined;
  };
}

/** Where the list of an answer is called otherwise than the path. */
const FIELDS: Readonly<Record<string, string>> = {
  detail: "servers",
  "os-server-groups": "server_groups",
  "os-keypairs": "keypairs",
  "security-groups": "security_groups",
};

describe("the objects of a cloud with a cluster's mark", () => {
  let server: CloudServer;
  let services: Services;
  let cloud: Cloud;

  beforeEach(async () => {
    services = new Services();
    server = new CloudServer(services.answer);
    server.hasLoadBalancers = true;
    await server.listen();
    cloud = new Cloud(
      {
        authUrl: `${server.url}/v3`,
        auth: {},
        region: "one",
        interface: "public",
        verify: true,
      },
      { seconds: 5 },
    );
  });

  afterEach(async () => {
    cloud.close();
    await server.close();
  });

  it("include the members and the monitor of the load balancer's pool, and of no other pool", async () => {
    const found = await readMarkedObjects(cloud, {
      mark: MARK,
      securityGroups: ["demo-nodes"],
      loadBalancer: true,
      ownCredential: false,
    });
    assert.deepEqual(
      found.map(({ kind, id, within }) => [kind, id, ...(within === undefined ? [] : [within])]),
      [
        ["load balancer", "b"],
        ["listener", "l"],
        ["load balancer pool", "p"],
        ["load balancer member", "m", "p"],
        ["load balancer monitor", "h"],
      ],
    );
  });

  it("include the caller's application credential, where the stack creates one", async () => {
    const desired = { mark: MARK, securityGroups: [], loadBalancer: false };
    assert.deepEqual(await readMarkedObjects(cloud, { ...desired, ownCredential: false }), []);
    assert.deepEqual(await readMarkedObjects(cloud, { ...desired, ownCredential: true }), [
      { kind: "application credential", id: "c", name: `foresail-demo-${MARK}`, within: "u1" },
    ]);
  });

  it("are deleted under their parents: a member in its pool, a credential with its user", async () => {
    await deleteObject(
      cloud,
      { kind: "load balancer member", id: "m", name: "cp-1-aaaaa", within: "p" },
      { progress: () => undefined },
    );
    await deleteObject(
      cloud,
      { kind: "load balancer monitor", id: "h", name: "demo-api" },
      { progress: () => undefined },
    );
    await deleteObject(
      cloud,
      { kind: "application credential", id: "c", name: "foresail-demo", within: "u1" },
      { progress: () => undefined },
    );
    assert.deepEqual(services.deleted, [
      "/lbaas/pools/p/members/m",
      "/lbaas/healthmonitors/h",
      "/users/u1/application_credentials/c",
    ]);
  });
});
