import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { readStackResources } from "../../../../lib/pulumi/stack";

describe("the state of the running stack", () => {
  let faults: Error[] = [];
  const outputs = { "urn:pulumi:test::foresail::pulumi:pulumi:Stack::foresail-test": { version: "1.35.4" } };

  before(() =>
    pulumi.runtime.setMocks({
      newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }),
      call: () => {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
        return { outputs };
      },
    }),
  );

  it("is read again when the engine could not read it", async () => {
    faults = [new Error("failed to load checkpoint: EOF"), new Error("failed to load checkpoint: EOF")];
    assert.deepEqual(await readStackResources(), outputs);
  });

  it("is not asked for again when the engine ends", async () => {
    const ending = Object.assign(new Error("Resource monitor is terminating"), { code: 14 });
    faults = [ending, ending];
    await assert.rejects(readStackResources(), { message: /terminating/ });
    assert.deepEqual(faults, [ending]);
  });
});
