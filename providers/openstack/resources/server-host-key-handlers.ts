import { RunInterrupted } from "../../../lib/process/interruption";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { waitFor, WaitTimeout } from "../../../lib/wait";
import { withoutCredentials } from "../../kubeadm/plan/cluster/machine";
import { sshTarget } from "../../kubeadm/client/ssh-target";
import { Cloud } from "../client/cloud";
import { readConsoleHostKeys } from "../client/facts";
import type { ServerHostKeyInputs as Inputs } from "./declarations";
import { messageOf } from "../../../lib/error-message";

/** Deadline for the keys on the console: cloud-init prints them shortly after sshd starts to answer. */
const CONSOLE_SECONDS = 30;

/** Reads host keys from a server's console. Returns none, and logs the reason, if the cloud provides no console. */
async function keysOnConsole(inputs: Inputs, resource: string): Promise<string[]> {
  const seconds = CONSOLE_SECONDS;
  try {
    return await Cloud.use(inputs, { seconds }, (cloud) =>
      waitFor<string[]>({
        what: `the host keys of ${inputs.machine} on its console`,
        seconds,
        probe: async () => {
          const keys = await readConsoleHostKeys(cloud, inputs.server);
          return keys.length > 0 ? { done: keys } : { pending: "no key is on it" };
        },
      }),
    );
  } catch (error) {
    // a key that nothing was compared with would be pinned
    if (error instanceof RunInterrupted) throw error;
    const why = messageOf(error);
    if (!(error instanceof WaitTimeout)) report(resource, `the cloud shows no console: ${why}`);
    return [];
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
      const confirmed = shown.length > 0;
      if (confirmed && !shown.includes(hostKey))
        throw new Error(
          `it shows ${hostKey}, and its console ${shown.join(", ")}: another machine answers at ${address}, ` +
            "or the machine has made new keys since its first boot",
        );
      if (!confirmed && inputs.requireConsole)
        throw new Error(
          `it shows ${hostKey}, but its console shows no host key, and ssh.requireHostKeys allows no first contact; ` +
            "use an image whose cloud-init prints the host keys, in a cloud that shows consoles, or remove the option",
        );
      const why = confirmed ? ", as its console shows" : " at first contact, since its console shows none";
      report(resource, `pinned ${hostKey}${why}`);
      return { id: inputs.machine, outs: withoutCredentials({ ...inputs, hostKey, confirmed }) };
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "first contact over SSH" }, error), { cause: error });
    }
  },
};
