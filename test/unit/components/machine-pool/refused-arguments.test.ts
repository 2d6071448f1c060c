import assert from "node:assert/strict";
import { checkedPool, type MachinePoolArgs } from "../../../../components/machine-pool/machine-pool-args";
import { MachinePoolSection } from "../../../../stacks/schema/machine-pool";
import { refused, refusesTheSame } from "../refused-arguments";

type Fields = Record<string, unknown>;

const KUBECONFIG = "{contexts: [{name: management}]}";
const infrastructure = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
  kind: "SandboxMachinePool",
  spec: {},
};
const config = { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1", kind: "KubeadmConfig", spec: {} };

const SECTION: Fields = {
  name: "pool-a",
  namespace: "demo",
  cluster: "demo",
  replicas: 3,
  version: "1.36.3",
  bootstrap: { config },
  infrastructure,
  failureDomains: ["one"],
};

const argumentsOf = (section: Fields) =>
  ({ kubeconfig: KUBECONFIG, ...section }) as unknown as MachinePoolArgs;
const make = (section: Fields) => checkedPool("pool-a", argumentsOf(section));

const CHANGES: Fields[] = [
  { name: "Pool" },
  { namespace: "../other" },
  { cluster: "" },
  { api: "v1beta3" },
  { replicas: -1 },
  { replicas: 10_001 },
  { replicas: 0.5 },
  { version: "1.30" },
  { bootstrap: {} },
  { bootstrap: { config, dataSecretName: "x" } },
  { bootstrap: { dataSecretName: "a/b" } },
  { bootstrap: { config: { ...config, apiVersion: "v1" } } },
  { infrastructure: { ...infrastructure, apiVersion: "../v1" } },
  { infrastructure: { ...infrastructure, kind: "pool" } },
  { infrastructure: { ...infrastructure, kind: undefined } },
  { infrastructure: { ...infrastructure, name: "A" } },
  { infrastructure: { ...infrastructure, inPlaceFields: ["minSize", "a..b"] } },
  { infrastructure: { ...infrastructure, labels: { "a b": "c" } } },
  { infrastructure: { ...infrastructure, annotations: { "foresail/made-by": "me" } } },
  { labels: { a: "b c" } },
  { annotations: { "foresail/made-by": "me" } },
  { failureDomains: ["a\nb"] },
  { minReadySeconds: -1 },
  { takeOver: "org/shop/prod" },
  { nodeDrainTimeoutSeconds: 86_401 },
  { timeouts: { nodesSeconds: 0, bootstrapSeconds: 86_401 } },
  { name: "Pool", replicas: -1 },
];

describe("the arguments of MachinePool", () => {
  refusesTheSame(MachinePoolSection, SECTION, make, CHANGES);

  it("include kubeconfigs with one context", () => {
    const lines = refused(make, { ...SECTION, kubeconfig: "hunter2", workloadKubeconfig: "a: b" });
    assert.deepEqual(
      lines.map((line) => line.split(":")[0]),
      ["kubeconfig", "workloadKubeconfig"],
    );
  });

  it("are refused with all issues when the component is made", async function () {
    this.timeout(60_000);
    const { MachinePool } = await import("../../../../components/machine-pool/machine-pool.js");
    assert.throws(
      () => new MachinePool("Pool", argumentsOf({ ...SECTION, name: undefined, replicas: -1 })),
      /MachinePool Pool has 2 validation issues:\n {2}name: .*\n {2}replicas: is -1; write 0 or more/,
    );
  });
});
