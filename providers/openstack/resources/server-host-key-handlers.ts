import { waitFor, WaitTimeout } from "../../../lib/wait";
import { consoleHostKeys } from "../plan/console-host-keys";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { sshTarget } from "../../kubeadm/resources/machines-session";
import type { ServerHostKeyInputs as Inputs } from "./server-host-key";

/** Deadline for the keys on the console: cloud-init prints them shortly after sshd starts to answer. */
const CONSOLE_SECONDS = 30;

/** Reads host keys from a server's console. Returns none, and logs the reason, if the cloud provides no console. */
async function keysOnConsole(inputs: Inputs, resource: string): Promise<string[]> {
  const { Cloud, consoleOutput } = await import("../client/index.js");
  let cloud: InstanceType<typeof Cloud> | undefined;
  try {
    const open = await Cloud.open(inputs, { seconds: CONSOLE_SECONDS });
    cloud = open;
    return await waitFor<string[]>({
      what: `the host keys of ${inputs.machine} on its console`,
      seconds: CONSOLE_SECONDS,
      probe: async () => {
        const keys = consoleHostKeys(await consoleOutput(open, inputs.server));
        return keys.length > 0 ? { done: keys } : { pending: "no key is on it" };
      },
    });
  } catch (error) {
    if (!(error instanceof WaitTimeout))
      report(
        resource,
        `the cloud shows no console: ${error instanceof Error ? error.message : String(error)}`,
      );
    return [];
  } finally {
    cloud?.close();
  }
}

/** Reads the host key at the first connection and compares it with the server's console. */
export const handlers: Handlers = {
  diff: (_id, olds: Inputs, news: Inputs) => {
    const replaces = (["machine", "server"] as const).filter((key) => olds[key] !== news[key]);
    return Promise.resolve({ changes: replaces.length > 0, replaces });
  },

  async create(inputs: Inputs) {
    const resource = `ServerHostKey ${inputs.machine}`;
    try {
      const { scanHostKey } = await import("../../../lib/ssh/index.js");
      const { machine: name, address, port, credentials, jumpHost } = inputs;
      const target = sshTarget({ name, address, port, user: "", hostKey: "" }, credentials, jumpHost);
      const hostKey = await scanHostKey(target, inputs.timeoutSeconds);
      const shown = await keysOnConsole(inputs, resource);
      if (shown.length > 0 && !shown.includes(hostKey))
        throw new Error(
          `it shows ${hostKey}, and its console ${shown.join(", ")}: another machine answers at ${address}, ` +
            "or the machine has made new keys since its first boot",
        );
      report(
        resource,
        shown.length > 0
          ? `pinned ${hostKey}, as its console shows`
          : `pinned ${hostKey} at first contact, since its console shows none`,
      );
      return { id: inputs.machine, outs: { ...inputs, hostKey, confirmed: shown.length > 0 } };
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "first contact over SSH" }, error), { cause: error });
    }
  },
};
