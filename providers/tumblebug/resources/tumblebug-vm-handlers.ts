import { isDeepStrictEqual } from "node:util";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { withServer } from "./server";
import type { TumblebugVmInputs as Inputs } from "./tumblebug-vm";

export const handlers: Handlers = {
  diff(_id, olds: Inputs, news: Inputs) {
    const changes = (["server", "vm"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes });
  },

  create: (inputs: Inputs) => Promise.resolve({ id: inputs.machine, outs: inputs }),

  update: (_id, _olds, news: Inputs) => Promise.resolve({ outs: news }),

  async delete(_id, { server, namespace, infrastructure, machine, vm, timeoutSeconds }: Inputs) {
    const resource = `VM ${vm} of ${machine}`;
    try {
      await withServer(
        resource,
        server,
        ({ infrastructures }) => infrastructures.deleteMachine(namespace, infrastructure, vm),
        { longSeconds: timeoutSeconds },
      );
      report(resource, "is deleted");
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "delete" }, error), { cause: error });
    }
  },
};
