import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { UNKNOWN } from "../../../../lib/unknown";
import { handlers } from "../../../../providers/openstack/resources/cloud-plan-handlers";
import { CloudServer, readCloud } from "./cloud-server";

describe("the check of a program's own provider", () => {
  const cloud = new CloudServer(readCloud);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-cloud-"));
  const before = process.env.OS_CLIENT_CONFIG_FILE;
  const lists = { servers: [], arriving: [], leaving: [], steps: [], later: [] };
  const desired = { cluster: "demo", cloud: "eu1", loadBalancer: false, floatingIps: 0, ...lists };
  const check = async (givenProvider: object) =>
    (await handlers.check!({}, { ...desired, givenProvider })) as {
      inputs: { found?: object };
      failures: { property: string }[];
    };

  beforeEach(async () => {
    await cloud.listen();
    process.env.OS_CLIENT_CONFIG_FILE = path.join(folder, "clouds.yaml");
    const auth = `{auth_url: "${cloud.url}", application_credential_id: a, application_credential_secret: s}`;
    writeFileSync(process.env.OS_CLIENT_CONFIG_FILE, `clouds: {eu1: {region_name: one, auth: ${auth}}}`);
  });
  afterEach(async () => {
    await cloud.close();
    rmSync(folder, { recursive: true, force: true });
    if (before === undefined) delete process.env.OS_CLIENT_CONFIG_FILE;
    else process.env.OS_CLIENT_CONFIG_FILE = before;
  });

  it("asks the cloud in a preview, which does not know what the provider leaves open", async () => {
    for (const [name, refused] of [
      ["eu1", []],
      ["eu2", ["provider"]],
    ] as const) {
      const given = { cloud: name, region: UNKNOWN, authUrl: UNKNOWN, tenantId: UNKNOWN };
      const { inputs, failures } = await check(given);
      assert.deepEqual(
        failures.map(({ property }) => property),
        refused,
      );
      assert.ok(inputs.found);
      assert.equal("givenProvider" in inputs, false);
    }
  });
});
