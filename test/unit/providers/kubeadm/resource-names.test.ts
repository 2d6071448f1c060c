import assert from "node:assert/strict";
import fc from "fast-check";
import { preparedMachine, prepareResource } from "../../../../providers/kubeadm/plan/cluster/resource-names";

describe("the name of a machine's preparation", () => {
  const label = fc.stringMatching(/^[a-z]([a-z0-9]{0,5}-)?[a-z0-9]{1,5}$/);

  it("leads back to the machine, with any revision", () => {
    fc.assert(
      fc.property(label, label, fc.option(label, { nil: undefined }), (cluster, machine, revision) => {
        fc.pre(![cluster, machine, revision].some((part) => part?.includes("prepare")));
        assert.equal(preparedMachine(cluster, prepareResource(cluster, machine, revision)), machine);
      }),
    );
  });

  for (const other of ["prod-w-1-reset", "other-w-1-prepare", "prod-prepare"])
    it(`is not ${other}`, () => assert.equal(preparedMachine("prod", other), undefined));
});
