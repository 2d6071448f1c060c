import assert from "node:assert/strict";
import { adopt } from "../../../cli/commands/adopt";
import { UsageError } from "../../../cli/terminal/exit-codes";

describe("the command line of foresail adopt", () => {
  const given = (over: Partial<Parameters<typeof adopt>[0]>) =>
    adopt({ kubeconfig: "none", ssh: "admin", address: [], write: "Pulumi.old.yaml", ...over });

  for (const address of ["w-1", "w-1=", "w-1=192.0.2.1:0", "w-1=192.0.2.1:65536", "w-1=192.0.2.1:ssh"])
    it(`refuses the address ${address} before it reads anything`, async () => {
      await assert.rejects(given({ address: [address] }), (error) => {
        assert.ok(error instanceof UsageError);
        assert.ok(error.message.startsWith(`--address ${address}: `), error.message);
        return true;
      });
    });

  for (const write of ["old.yaml", "Pulumi.Old.yaml", "stacks/Pulumi..yaml"])
    it(`refuses to write ${write}, which is not a file of a stack`, async () => {
      await assert.rejects(given({ write }), UsageError);
    });
});
