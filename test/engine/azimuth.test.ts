import assert from "node:assert/strict";
import { API, SERVICES_ANNOTATION } from "../../core/azimuth/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthGround, configure } from "./azimuth-ground";

const { namespace } = TENANCY;

interface Live {
  metadata: {
    uid: string;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: { name: string; uid: string; controller?: boolean }[];
  };
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
  data?: Record<string, string>;
}

describe("a cluster through Azimuth, under the engine", function () {
  this.timeout(240_000);
  const ground = azimuthGround();
  const get = (apiVersion: string, kind: string, name: string) =>
    ground.management.get<Live>({ apiVersion, kind, namespace, name });

  it("comes up in the contract's order, and a second up changes nothing", async () => {
    configure(ground);
    console.log(await ground.stack.up());
    assert.deepEqual(Object.keys(await ground.stack.up()), ["unchanged"]);
    console.log(JSON.stringify(await get(API.azimuth, "Cluster", "demo"), null, 1));
    console.log(await ground.stack.outputs());
    void [SERVICES_ANNOTATION];
  });
});
