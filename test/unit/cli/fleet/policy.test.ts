import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Fleet } from "../../../../cli/fleet/plan/fleet";
import { policyOf, withPolicyPack } from "../../../../cli/fleet/review/policy";
import { previewArguments } from "../../../../cli/fleet/commands/preview";
import { policyCall } from "../../../../cli/engine/policy-call";

describe("the policy pack of a fleet", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-policy-"));
    for (const name of ["rules/environments", "own"]) mkdirSync(path.join(folder, name), { recursive: true });
    for (const name of ["rules/environments/eu1.json", "own/us1.json"])
      writeFileSync(path.join(folder, name), "{}");
  });
  after(() => rmSync(folder, { recursive: true }));

  const at = (name: string) => path.join(folder, name);
  const fleet: Fleet = { maxParallel: 2, onFailure: "stop", waves: [] };
  const of = (policy: Fleet["policy"], stack: string) =>
    policyOf({ folder, name: "foresail" }, { policy }, stack);

  it("has the parameters of a stack, if there are some, beside the pack or in a folder of their own", () => {
    const [pack, environments] = ["rules", "own"];
    assert.deepEqual(of(undefined, "eu1"), {});
    assert.deepEqual(of({ pack }, "eu1"), {
      policyPack: at("rules"),
      policyPackConfig: at("rules/environments/eu1.json"),
    });
    assert.deepEqual(of({ pack }, "us1"), { policyPack: at("rules") });
    assert.deepEqual(of({ pack, environments }, "acme/foresail/us1"), {
      policyPack: at("rules"),
      policyPackConfig: at("own/us1.json"),
    });
  });

  it("is given to the previews of workers", () =>
    assert.deepEqual(previewArguments("eu1", "plan", "json", of({ pack: "rules" }, "eu1")).slice(-4), [
      ...["--policy-pack", at("rules"), "--policy-pack-config", at("rules/environments/eu1.json")],
    ]));

  it("is the one of the command line, except for workers, which have another machine's folders", () => {
    const policy = { pack: "rules", environments: "own" };
    assert.deepEqual(withPolicyPack({ ...fleet, policy }, undefined, "temporal").policy, policy);
    assert.deepEqual(withPolicyPack({ ...fleet, policy }, "/other", "local").policy, {
      ...policy,
      pack: "/other",
    });
    assert.throws(() => withPolicyPack(fleet, "/other", "temporal"), /write policy: into fleet\.yaml/);
  });

  it("is refused when it is none", () =>
    assert.rejects(
      policyCall({ policyPack: at("own") }),
      /own is not a policy pack: it has no PulumiPolicy\.yaml/,
    ));
});
