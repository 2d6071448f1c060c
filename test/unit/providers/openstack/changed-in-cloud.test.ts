import assert from "node:assert/strict";
import { unknownSlotRefusals } from "../../../../providers/kubeadm/plan/validation/replaced-machines";
import { Cloud } from "../../../../providers/openstack/client/cloud";
import { readCloudFacts } from "../../../../providers/openstack/client/facts";
import {
  stoppedServers,
  stoppedStatus,
  unattachedRefusals,
} from "../../../../providers/openstack/plan/changed-in-cloud";
import { CloudServer } from "./cloud-server";

describe("what was changed in the cloud and not by foresail", () => {
  it("finds recorded objects that are gone, and servers without their port or root volume", async () => {
    const servers = ["s1", "s2"].map((id, index) => ({
      ...{ id, name: `w-${index + 1}-aaaaa`, status: "ACTIVE" },
      "os-extended-volumes:volumes_attached": [{ id: `v${index + 1}` }],
    }));
    const server = new CloudServer(({ path }) => {
      if (path === "/compute/v2.1/limits") return { status: 200, body: { limits: { absolute: {} } } };
      if (path.startsWith("/compute/v2.1/servers/detail")) return { status: 200, body: { servers } };
      if (path === "/network/v2.0/ports?id=p1&id=p2&id=p3")
        return {
          status: 200,
          body: {
            ports: [
              { id: "p1", device_id: "s1" },
              { id: "p2", device_id: "" },
            ],
          },
        };
      if (path === "/volume/v3/volumes/v2") return { status: 404, body: {} };
      if (path.startsWith("/volume/v3/os-quota-sets/")) return { status: 200, body: { quota_set: {} } };
      return { status: 200, body: {} };
    });
    await server.listen();
    const configuration = {
      authUrl: `${server.url}/v3`,
      auth: {},
      region: "one",
      interface: "public",
      verify: true,
    } as const;
    const cloud = new Cloud(configuration, { seconds: 20 });
    const port = (index: number) => ({
      kind: "port" as const,
      name: `demo-w-${index}-aaaaa`,
      id: `p${index}`,
    });
    const { gone, detached, withoutVolume } = await readCloudFacts(cloud, {
      ...{ servers: "^w-", cluster: "demo", images: [], flavors: [], newNetworkObjects: false },
      withRootVolume: ["w-1-aaaaa", "w-2-aaaaa"],
      serverIds: { "w-1-aaaaa": "s1", "w-2-aaaaa": "s2" },
      networkObjects: [port(1), port(2), port(3)],
    });
    assert.deepEqual(gone, [port(3)]);
    assert.deepEqual(detached, { "w-2-aaaaa": { port: "p2", server: "s2" } });
    assert.deepEqual(withoutVolume, ["w-2-aaaaa"]);
    cloud.close();
    await server.close();
  });

  it("names servers that do not run, with what starts them", () => {
    const recorded = {
      "cp-1-aaaaa": "ACTIVE",
      "w-1-bbbbb": "SHUTOFF",
      "w-2-ccccc": "SUSPENDED",
      "w-3-ddddd": "SOFT_DELETED",
      "w-4-eeeee": "ERROR",
      "w-5-fffff": undefined,
      "w-6-ggggg": "ERROR",
    };
    const serverIds = { "w-1-bbbbb": "s1", "w-2-ccccc": "s2", "w-3-ddddd": "s3", "w-4-eeeee": "s4" };
    const failed = [{ id: "s6", name: "w-6-ggggg", reason: "No valid host was found." }];
    assert.deepEqual(stoppedServers({ recorded, failed }, { ...serverIds, "w-6-ggggg": "s6" }), [
      "w-1-bbbbb: its server is SHUTOFF; start it: `openstack server start s1`",
      "w-2-ccccc: its server is SUSPENDED; start it: `openstack server resume s2`",
      "w-3-ddddd: its server is SOFT_DELETED",
      "w-4-eeeee: its server is ERROR; restart it: `openstack server reboot --hard s4`, or have another machine made with the next number in `openstack.replace: {w-4: …}`",
    ]);
  });

  it("takes a server for stopped when it can be started again, or has failed", () => {
    const statuses = ["SHUTOFF", "SHELVED_OFFLOADED", "ERROR", "ACTIVE", "MIGRATING", "toString", undefined];
    assert.deepEqual(statuses.map(stoppedStatus), [
      ...["SHUTOFF", "SHELVED_OFFLOADED", "ERROR"],
      ...[undefined, undefined, undefined, undefined],
    ]);
  });

  it("refuses to replace all control planes, since they alone have the data", () => {
    const unattached = [{ name: "cp-1-aaaaa", role: "control-plane" as const }];
    const other = { role: "control-plane" as const, joined: true };
    assert.deepEqual(unattachedRefusals(unattached, [other]), []);
    const [refused] = unattachedRefusals(unattached, [{ role: "worker", joined: true }]);
    assert.match(refused!.reason, /the ports of all control planes are gone \(cp-1-aaaaa\)/);
  });
});

it("refuses to replace the machine of a slot that the pools do not have, and names those that they have", () => {
  assert.deepEqual(unknownSlotRefusals("openstack", ["w-4", "w-1"], ["cp-1", "w-4"]), [
    {
      property: "openstack.replace.w-1",
      reason: 'is not a machine; write <pool>-<index>; did you mean "w-4"?',
    },
  ]);
});
