import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import {
  clusterConfiguration,
  joinConfiguration,
} from "../../../../providers/kubeadm/machine/configuration/configuration";
import type { JsonObject } from "../../../../lib/merge";
import { AGENT_VERSION_PATTERN } from "../../../../providers/kubeadm/plan/rollout/annotations";
import { PASS_THROUGH, passThroughIssues } from "../../../../providers/kubeadm/plan/validation/pass-through";
import { softwareVersionIssue } from "../../../../providers/kubeadm/plan/validation/rollout";
import { exampleMachine, exampleSpecification } from "../../providers/kubeadm/machine/examples";

/** Values that are right, wrong or empty somewhere in kubeadm's objects. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, "x", 1, true, [], {}, ["a"], [{ name: "v", value: "4" }], [{ name: null }], {
    v: "4",
  }),
  fc.constantFrom<unknown>(
    [{ name: "encryption-provider-config" }],
    [{ name: "foresail-encryption" }],
    [null],
  ),
);
const object = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] });
/** Mostly right, so that enough objects are accepted. */
const mostly = (...right: unknown[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: value });
const within = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: value });
const args = mostly([], [{ name: "v", value: "4" }], [{ name: "encryption-provider-config", value: "/x" }]);
const component = object({ extraArgs: args, extraEnvs: mostly([{ name: "A", value: "b" }]) });
const apiServer = object({
  extraArgs: args,
  extraVolumes: mostly([{ name: "audit" }]),
  certSANs: mostly(["a"], []),
});
const cluster = object({
  apiServer: within(apiServer),
  controllerManager: within(component),
  networking: within(fc.constant({})),
  etcd: within(object({ local: within(component) })),
  featureGates: mostly({}, { A: true }),
});
const join = object({
  nodeRegistration: within(
    object({ taints: mostly([{ key: "a", effect: "NoSchedule" }], []), kubeletExtraArgs: args }),
  ),
  skipPhases: mostly([], ["a"]),
});

const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);

describe("configuration: what is passed through to kubeadm", () => {
  it("removes nothing of foresail's own, whatever was accepted", () => {
    let accepted = 0;
    fc.assert(
      fc.property(cluster, (own) => {
        if (passThroughIssues(PASS_THROUGH.clusterConfiguration, own).length > 0) return;
        accepted += 1;
        const specification = exampleSpecification({ kubeadm: { clusterConfiguration: own as JsonObject } });
        const merged = clusterConfiguration(specification, [exampleMachine("cp-1")]);
        const { extraArgs, extraVolumes, certSANs } = merged["apiServer"] as JsonObject;
        assert.ok(names(extraArgs).includes("encryption-provider-config"), JSON.stringify(own));
        assert.ok(names(extraVolumes).includes("foresail-encryption"), JSON.stringify(own));
        assert.ok((certSANs as string[]).includes("127.0.0.1"), JSON.stringify(own));
        const { podSubnet } = merged["networking"] as JsonObject;
        assert.equal(podSubnet, specification.network.podCidr);
        assert.ok(!JSON.stringify(merged).includes("null"), JSON.stringify(own));
      }),
      { numRuns: 3000 },
    );
    assert.ok(accepted > 50, `only ${accepted} were accepted`);
  });

  it("keeps name and taints of a Node that joins", () => {
    let accepted = 0;
    fc.assert(
      fc.property(join, (own) => {
        if (passThroughIssues(PASS_THROUGH.joinConfiguration, own).length > 0) return;
        accepted += 1;
        const specification = exampleSpecification({ kubeadm: { joinConfiguration: own as JsonObject } });
        const text = joinConfiguration(
          specification,
          exampleMachine("cp-1", { role: "control-plane" }),
          "token",
        );
        assert.match(text, /^ {2}name: cp-1$/m, JSON.stringify(own));
        // an empty list leaves it out
        const { taints } = (own.nodeRegistration ?? {}) as { taints?: unknown[] };
        if (taints?.length !== 0)
          assert.match(text, /node-role.kubernetes.io\/control-plane/, JSON.stringify(own));
        assert.match(text, /node-ip/, JSON.stringify(own));
      }),
      { numRuns: 2000 },
    );
    assert.ok(accepted > 50, `only ${accepted} were accepted`);
  });
});

describe("configuration: versions that node agents install", () => {
  it("are those that the agent's own bash accepts", () => {
    const near = fc.string({ unit: fc.constantFrom(..."09azAZ.+:~-_ /v\"'$é"), maxLength: 8 });
    const versions = [
      ...fc.sample(near, 500),
      "2026-11-22",
      "1.7.27-0ubuntu1~22.04.1",
      "v1",
      "",
      "a_b",
      "2026-11-22T00:00:00Z",
    ];
    const script = `while IFS= read -r -d '' to; do if [[ \${to#v} = "$to" && $to =~ ${AGENT_VERSION_PATTERN} ]]; then echo yes; else echo no; fi; done`;
    const input = versions.map((version) => `${version}\0`).join("");
    const { stdout } = spawnSync("bash", ["-c", script], {
      input,
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
    });
    const agent = stdout.trimEnd().split("\n");
    assert.deepEqual(
      versions.map((version) => (softwareVersionIssue(version) === undefined ? "yes" : "no")),
      agent,
    );
  });
});
