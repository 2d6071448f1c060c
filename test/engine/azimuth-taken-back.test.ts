import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { API } from "../../providers/azimuth/plan/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthFixture, configure, liveObjects, untilTrue } from "./azimuth-fixture";

const { namespace } = TENANCY;
const POLICY = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: "no-headlamp" } };

describe("values of a cluster through Azimuth with which its chart fails", function () {
  this.timeout(180_000);
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);
  const addon = (name: string) => get(API.addons, "HelmRelease", name);
  const want = (dashboard: boolean) => configure(fixture, { addons: { monitoring: false, dashboard } });
  const up = () => fixture.stack.call(["up", "--yes", "--skip-preview"]);
  const statusOfRelease = async (): Promise<string | undefined> => {
    const secrets = await fixture.management.list({ apiVersion: "v1", kind: "Secret", namespace });
    const revisions = secrets
      .map(({ metadata }) => metadata?.labels ?? {})
      .filter(({ owner, name }) => owner === "helm" && name === "demo");
    return revisions.sort((one, other) => Number(other["version"]) - Number(one["version"]))[0]?.["status"];
  };

  /** Refuses an object of the chart, as a webhook of an operator does. */
  async function refuseHeadlamp(): Promise<() => Promise<void>> {
    const rule = { apiGroups: [API.addons.split("/")[0]], apiVersions: ["*"], resources: ["helmreleases"] };
    await fixture.management.apply({
      ...{ ...POLICY, kind: "ValidatingAdmissionPolicy" },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: ["CREATE", "UPDATE"] }] },
        validations: [
          { expression: "object.metadata.name != 'demo-headlamp'", message: "Headlamp is not allowed here" },
        ],
      },
    });
    await fixture.management.apply({
      ...{ ...POLICY, kind: "ValidatingAdmissionPolicyBinding" },
      spec: { policyName: POLICY.metadata.name, validationActions: ["Deny"] },
    });
    // the API server notices a policy after a moment
    await pause(2_000);
    return async () => {
      for (const kind of ["ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"])
        await fixture.management.delete({ apiVersion: POLICY.apiVersion, kind, name: POLICY.metadata.name });
      await pause(2_000);
    };
  }

  before(async () => {
    want(false);
    await fixture.stack.up();
    await fixture.stack.up();
  });

  async function fail(): Promise<void> {
    want(true);
    const { exitCode, stdout, stderr } = await up();
    assert.notEqual(exitCode, 0, stdout);
    assert.match(stdout + stderr, /Headlamp is not allowed here/);
    assert.equal(await statusOfRelease(), "failed");
  }

  async function expectEnd(hasHeadlamp: boolean): Promise<void> {
    await untilTrue(
      "Headlamp as configured",
      async () => ((await addon("demo-headlamp")) !== undefined) === hasHeadlamp,
    );
    const client = await get(API.addons, "Manifests", "demo-headlamp-client");
    assert.equal(client !== undefined, hasHeadlamp);
    assert.equal(await statusOfRelease(), "deployed");
    await fixture.stack.up();
    assert.deepEqual(await fixture.stack.preview(), []);
  }

  it("are taken back with one up, which leaves nothing of them", async () => {
    const allow = await refuseHeadlamp();
    await fail();
    want(false);
    const lines = (await fixture.stack.preview()).map(({ op, name }) => `${op} ${name}`);
    assert.ok(lines.includes("update demo-chart"), lines.join(", "));
    await fixture.stack.up();
    await expectEnd(false);
    await allow();
  });

  it("are reached by the same up when what refused them is gone", async () => {
    const allow = await refuseHeadlamp();
    await fail();
    await allow();
    await fixture.stack.up();
    await expectEnd(true);
  });
});
