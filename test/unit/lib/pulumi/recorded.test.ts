import assert from "node:assert/strict";
import { describeRecorded } from "../../../../lib/pulumi/log";
import { UNKNOWN } from "../../../../lib/unknown";
import { exampleMachine, exampleSpecification } from "../../providers/kubeadm/machine/examples";

const w1 = exampleMachine("w-1");
const olds = {
  machines: [w1],
  specification: exampleSpecification(),
  rollout: { maxUnavailable: 1, pools: {} },
  lost: ["w-8"],
  kubeconfig: "one",
  drain: { force: false },
};
const KEYS = ["machines", "specification", "rollout", "lost", "kubeconfig"] as const;

describe("what an update records", () => {
  const cases: [string, Partial<Record<keyof typeof olds, unknown>>, string[]][] = [
    ["nothing", {}, []],
    ["an input that is not recorded", { drain: { force: true } }, []],
    ["fields of a machine", { machines: [{ ...w1, port: 2222, user: "u" }] }, ["w-1: recorded: port, user"]],
    [
      "machines that come and go",
      { machines: [exampleMachine("w-2")] },
      ["w-2: recorded: it is configured now", "w-1: recorded: it is no longer configured"],
    ],
    [
      "a field that only the run can know",
      { machines: [{ ...w1, hostKey: UNKNOWN }] },
      ["w-1: recorded: what the run will know"],
    ],
    [
      "fields of the configuration, as a person writes them",
      {
        specification: exampleSpecification({ version: "1.36.4" }),
        rollout: { maxUnavailable: 2, pools: { gpu: {} } },
        lost: [],
      },
      ["recorded: cluster.version, cluster.rollout.maxUnavailable, cluster.rollout.pools.gpu, cluster.lost"],
    ],
    ["a secret by its name alone", { kubeconfig: "two" }, ["recorded: kubeconfig"]],
    ["a secret that only the run can know", { kubeconfig: UNKNOWN }, ["recorded: kubeconfig"]],
  ];
  for (const [what, change, lines] of cases)
    it(`names ${what}`, () =>
      assert.deepEqual(describeRecorded(olds, { ...olds, ...change } as typeof olds, KEYS), lines));
});
