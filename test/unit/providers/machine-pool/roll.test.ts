import assert from "node:assert/strict";
import fc from "fast-check";
import { evaluate } from "../../../../providers/machine-pool/plan/evaluation";
import { observePool } from "../../../../providers/machine-pool/plan/observed";
import {
  outdatedMachines,
  type PoolTemplate,
  type TemplateChange,
  templateChange,
} from "../../../../providers/machine-pool/plan/roll";

type Fields = Record<string, unknown>;

const template = (
  kind: string,
  infrastructure: Fields,
  bootstrap: Fields = {},
  name = "p",
): PoolTemplate => ({
  infrastructure: `${kind} ${name}`,
  rest: { bootstrap, infrastructure },
});
const A = template("SamplePool", { flavor: "a" });
const B = template("SamplePool", { flavor: "b" });

describe("what a change of a pool's template does with its machines", () => {
  const launch = (fields: Fields, others: Fields = {}) => ({
    minSize: 1,
    awsLaunchTemplate: { instanceType: "m6i.large", rootVolume: { size: 8 }, ...fields },
    ...others,
  });
  const docker = (fields: Fields) => ({ template: { customImage: "node:1", ...fields } });
  const table: [what: string, kind: string, before: Fields, after: Fields, TemplateChange][] = [
    ["nothing", "SamplePool", { flavor: "a" }, { flavor: "a" }, "none"],
    ["a field of a kind that is not known", "SamplePool", { flavor: "a" }, { flavor: "b" }, "roll"],
    ["a field that was removed", "SamplePool", { flavor: "a", disk: 1 }, { flavor: "a" }, "roll"],
    ["an entry of a list", "SamplePool", { disks: [1] }, { disks: [2] }, "roll"],
    ["the limits of an autoscaler", "SamplePool", { maxSize: 3 }, { maxSize: 4 }, "keep"],
    ["AWS: an instance type", "AWSMachinePool", launch({}), launch({ instanceType: "m6i.xlarge" }), "roll"],
    [
      "AWS: an AMI",
      "AWSMachinePool",
      launch({ ami: { id: "ami-1" } }),
      launch({ ami: { id: "ami-2" } }),
      "roll",
    ],
    ["AWS: the size of a disk", "AWSMachinePool", launch({}), launch({ rootVolume: { size: 9 } }), "open"],
    ["AWS: the smallest size", "AWSMachinePool", launch({}), launch({}, { minSize: 2 }), "keep"],
    [
      "AWS: an instance type without a refresh",
      "AWSMachinePool",
      launch({}),
      launch({ instanceType: "m6i.xlarge" }, { refreshPreferences: { disable: true } }),
      "keep",
    ],
    ["Docker: an image", "DockerMachinePool", docker({}), docker({ customImage: "node:2" }), "roll"],
    ["Docker: mounts", "DockerMachinePool", docker({}), docker({ extraMounts: [{}] }), "keep"],
    ["a managed service", "AzureManagedMachinePool", { nodeLabels: { a: "1" } }, { nodeLabels: {} }, "open"],
  ];
  for (const [what, kind, before, after, change] of table)
    it(what, () => assert.equal(templateChange(template(kind, before), template(kind, after)), change));

  it("another bootstrap alone is up to the provider, another object replaces, a named field keeps", () => {
    const data = (name: string) => template("SamplePool", {}, { dataSecretName: name });
    assert.equal(templateChange(data("a"), data("b")), "open");
    assert.equal(templateChange(A, template("SamplePool", { flavor: "a" }, {}, "q")), "replace");
    assert.equal(templateChange(A, B, ["flavor"]), "keep");
  });
});

describe("the machines that a change of the template has to replace", () => {
  const all = { machines: ["m0", "m1"], isOlder: () => true };
  const ids = (groups: { machines: string[] }[]) => groups.flatMap(({ machines }) => machines);

  it("are those that existed before it, until they are gone", () => {
    const outdated = outdatedMachines([], A, B, { ...all, isOlder: (id) => id === "m0" });
    assert.deepEqual(ids(outdated), ["m0"]);
    assert.deepEqual(ids(outdatedMachines(outdated, B, B, { ...all, machines: ["m0", "m2"] })), ["m0"]);
    assert.deepEqual(outdatedMachines(outdated, B, B, { ...all, machines: ["m1", "m2"] }), []);
  });

  it("are the others when a change is taken back half-way", () => {
    const outdated = outdatedMachines([], A, B, all);
    const machines = ["m1", "m2"];
    assert.deepEqual(ids(outdatedMachines(outdated, B, A, { ...all, machines })), ["m2"]);
  });

  it("are none once the changed field is named as one that replaces no machine", () => {
    const outdated = outdatedMachines([], A, B, all);
    assert.deepEqual(outdatedMachines(outdated, B, B, { ...all, inPlaceFields: ["flavor"] }), []);
  });

  it("are never of the desired template, and always exist, whatever was changed before", () => {
    const flavors = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(flavors, fc.infiniteStream(fc.nat(3)), (changes, random) => {
        let made = 0;
        let machines = new Map(Array.from({ length: 3 }, () => [`m${made++}`, changes[0] ?? ""]));
        let outdated: ReturnType<typeof outdatedMachines> = [];
        changes.slice(1).forEach((flavor, index) => {
          const [before, after] = [changes[index] ?? "", flavor].map((name) =>
            template("P", { flavor: name }),
          );
          outdated = outdatedMachines(outdated, before, after!, {
            machines: [...machines.keys()],
            isOlder: () => true,
          });
          const expected = [...machines].filter(([, from]) => from !== flavor).map(([id]) => id);
          assert.deepEqual(ids(outdated).sort(), expected.sort());
          // the provider replaces some of them before the next change
          const gone = expected.slice(0, Number(random.next().value));
          machines = new Map([...machines].filter(([id]) => !gone.includes(id)));
          for (const _ of gone) machines.set(`m${made++}`, flavor);
        });
      }),
    );
  });

  it("keep a pool waiting that reports to be ready, as providers without observedGeneration do", () => {
    const pool = observePool({
      metadata: {
        name: "p",
        generation: 1,
        ownerReferences: [{ kind: "Cluster", apiVersion: "cluster.x-k8s.io/v1beta1" }],
      },
      spec: { replicas: 2, providerIDList: ["m0", "m1"] },
      status: {
        ...{ phase: "Running", observedGeneration: 1, bootstrapReady: true, infrastructureReady: true },
        ...{ replicas: 2, readyReplicas: 2, nodeRefs: [{ name: "n0" }, { name: "n1" }] },
      },
    });
    const nodes = ["m0", "m1"].map((id) => ({ name: id, providerID: id, isReady: true }));
    const conclusion = (outdated: ReturnType<typeof outdatedMachines>) =>
      evaluate(pool, { replicas: 2, outdated }, { isClusterPaused: false, nodes });
    assert.deepEqual(conclusion([]), { ready: true });
    const found = conclusion(outdatedMachines([], A, B, all));
    assert.ok("waits" in found);
    assert.match(
      found.waits.for,
      /^2 of 2 machines to be replaced, which are of an earlier template: m0, m1$/,
    );
  });
});
