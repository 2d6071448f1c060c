import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { loadConfiguration, type ConfigurationReader } from "../../../../stacks/schema";
import { issuesOf } from "./issues";

type Fields = Record<string, unknown>;

const kubeconfig = (...contexts: string[]) =>
  JSON.stringify({ apiVersion: "v1", kind: "Config", contexts: contexts.map((name) => ({ name })) });

const infrastructure = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
  kind: "SandboxMachinePool",
  spec: {},
};
/** The smallest valid section, with some fields replaced. */
const section = (over: Fields = {}): Fields => ({
  name: "pool-a",
  cluster: "demo",
  bootstrap: { dataSecretName: "join" },
  infrastructure,
  ...over,
});

function reader(value: unknown, others: Record<string, string | undefined> = {}): ConfigurationReader {
  const values = {
    "foresail:system": "machine-pool",
    "foresail:machinePool": value === undefined ? undefined : JSON.stringify(value),
    "foresail:managementKubeconfig": kubeconfig("admin"),
    ...others,
  };
  const given = Object.entries(values).filter(([, text]) => text !== undefined);
  return {
    project: "foresail",
    stack: "dev",
    values: Object.fromEntries(given) as Record<string, string>,
    isSecret: (key) => key.endsWith("Kubeconfig"),
  };
}

describe("configuration: the system machine-pool", () => {
  it("accepts the smallest section and sets the defaults", async () => {
    const loaded = loadConfiguration(reader(section()));
    assert.ok(loaded.system === "machine-pool");
    const { replicas, namespace, api, adopt, timeouts } = loaded.machinePool;
    assert.deepEqual([replicas, namespace, api, adopt], [1, "default", "v1beta1", false]);
    assert.deepEqual(timeouts, {
      bootstrapSeconds: 600,
      infrastructureSeconds: 1800,
      nodesSeconds: 1800,
      deletionSeconds: 1800,
    });
    assert.equal(await pulumi.isSecret(loaded.managementKubeconfig), true);
    assert.equal(loaded.workloadKubeconfig, undefined);
  });

  it("accepts a managed pool, whose bootstrap has an empty name", () => {
    const apiVersion = "infrastructure.cluster.x-k8s.io/v1beta1";
    const managed = { apiVersion, kind: "AzureManagedMachinePool", spec: { mode: "User" } };
    const loaded = loadConfiguration(
      reader(section({ bootstrap: { dataSecretName: "" }, infrastructure: managed })),
    );
    assert.ok(loaded.system === "machine-pool");
    assert.deepEqual(loaded.machinePool.bootstrap, { dataSecretName: "" });
  });

  const config = { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1", kind: "KubeadmConfig", spec: {} };
  const table: [Fields, string | RegExp][] = [
    [{ name: "Pool" }, /^machinePool\.name: "Pool" is not the name of a Kubernetes object/],
    [{ replicas: -1 }, /^machinePool\.replicas: /],
    [
      { version: "1.30" },
      'machinePool.version: "1.30" is not a version; write MAJOR.MINOR.PATCH, e.g. "1.30.2"',
    ],
    [{ bootstrap: {} }, /^machinePool\.bootstrap: .*config.*dataSecretName/],
    [{ bootstrap: { config, dataSecretName: "x" } }, /^machinePool\.bootstrap: /],
    [
      { infrastructure: { ...infrastructure, apiVersion: "v1" } },
      /^machinePool\.infrastructure\.apiVersion: "v1" is not an apiVersion/,
    ],
    [
      { infrastructure: { ...infrastructure, kind: "pool" } },
      /^machinePool\.infrastructure\.kind: "pool" is not a kind/,
    ],
    [
      { annotations: { "foresail/made-by": "me" } },
      /foresail\/made-by.*: is written by foresail alone; remove it/,
    ],
    [{ labels: { "a b": "c" } }, /labels\["a b"\]: "a b" is not a key of Kubernetes/],
    [{ replica: 3 }, /^machinePool\.replica: is not known; did you mean "replicas"\?/],
    [{ api: "v1beta3" }, /^machinePool\.api: .*write one of "v1beta1", "v1beta2"/],
  ];
  for (const [over, said] of table)
    it(`refuses ${JSON.stringify(over)}`, () => {
      const issues = issuesOf(reader(section(over)));
      assert.equal(issues.length, 1, issues.join("\n"));
      if (typeof said === "string") assert.equal(issues[0], said);
      else assert.match(issues[0]!, said);
    });

  it("names what is missing, and keys of other systems, all at once", () => {
    const others = { "foresail:managementKubeconfig": undefined, "foresail:cluster": "{}" };
    assert.deepEqual(issuesOf(reader(undefined, others)), [
      'cluster: belongs to the systems "ssh", "openstack", "tumblebug"; remove it, or write one of them as foresail:system',
      "machinePool: is missing; examples/machine-pool/ shows a complete one",
      "managementKubeconfig: is missing; set it with: pulumi config set --secret foresail:managementKubeconfig < FILE",
    ]);
  });

  it("requires one context, since several would be treated as servers of one cluster", () => {
    const two = { "foresail:workloadKubeconfig": kubeconfig("a", "b") };
    assert.match(
      issuesOf(reader(section(), two))[0]!,
      /workloadKubeconfig: has 2 contexts, write out one with: kubectl config view --minify --flatten/,
    );
    assert.match(
      issuesOf(reader(section(), { "foresail:managementKubeconfig": "x" }))[0]!,
      /managementKubeconfig: is not a kubeconfig/,
    );
  });
});
