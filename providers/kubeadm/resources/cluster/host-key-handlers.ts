import { explained } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { report } from "../../../../lib/pulumi/log";
import { withoutCredentials } from "../../plan/cluster/machine";
import { sshTarget } from "../../client/ssh-target";
import type { HostKeyInputs as Inputs } from "../declarations";

/** Reads the key once. A later change of address or port leads to the same machine, so the key stays pinned. */
export const handlers: Handlers = {
  diff: (_id, olds: Inputs, news: Inputs) => {
    const replaces = olds.machine === news.machine ? [] : ["machine"];
    return Promise.resolve({ changes: replaces.length > 0, replaces });
  },

  create: (inputs: Inputs) => {
    const { machine: name, address, port, credentials, jumpHost } = inputs;
    const resource = `HostKey ${name}`;
    return explained({ resource, step: "first contact over SSH" }, async () => {
      const { scanHostKey } = await import("../../../../lib/ssh/index.js");
      const target = sshTarget({ name, address, port, user: "", hostKey: "" }, credentials, jumpHost);
      const hostKey = await scanHostKey(target, inputs.timeoutSeconds);
      report(resource, `pinned ${hostKey}`);
      return { id: name, outs: withoutCredentials({ ...inputs, hostKey }) };
    });
  },
};
