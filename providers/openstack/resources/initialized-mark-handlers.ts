import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../../lib/process/parent-watch";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { isKnownList, isUnknown } from "../../../lib/unknown";
import { waitFor } from "../../../lib/wait";
import { initializedScript } from "../../kubeadm/machine/steps";
import { withoutCredentials, type Machine } from "../../kubeadm/plan/cluster/machine";
import { errorOf, failuresOfEach, withMachines } from "../../kubeadm/resources/session/machines-session";
import { Cloud } from "../client/cloud";
import { setServerMetadata } from "../client/facts";
import { INITIALIZED_KEY } from "../plan/machine";
import { initializedMarkSteps } from "../plan/steps";
import type { InitializedMarkInputs as Inputs, InitializedMarkOutputs as Outputs } from "./declarations";

const ASK_SECONDS = 60;

/** Returns the machines whose servers have no recorded ready tag. */
function unmarked(marked: Readonly<Record<string, string>>, news: Inputs): Machine[] {
  return news.machines.filter(({ name }) => marked[name] !== news.servers[name]);
}

/**
 * Waits for the node agents and adds the ready tag to their servers.
 *
 * @throws PartialFailure with the tags that were added, if any machine failed
 */
async function mark(marked: Readonly<Record<string, string>>, inputs: Inputs): Promise<Outputs> {
  const { servers, specification, timeouts } = inputs;
  const resource = `InitializedMark ${specification.name}`;
  const engine = engineSignal();
  const done = Object.fromEntries(Object.entries(marked).filter(([name, id]) => servers[name] === id));
  const failures = await withMachines(resource, inputs, (session) => {
    const options = { progress: session.progress, signal: engine.signal };
    return Cloud.use(inputs, options, (cloud) =>
      failuresOfEach(unmarked(marked, inputs), "mark as initialized", async (machine) => {
        const { name } = machine;
        const script = initializedScript(specification.name, name);
        const version = await waitFor<string>({
          what: `the node agent of ${name} to find the machine ready`,
          seconds: timeouts.ready,
          ...options,
          probe: async () => {
            const answer = (await session.run(machine, script, { seconds: ASK_SECONDS })).trim();
            return answer === "" ? { pending: "it has not reported this yet" } : { done: answer };
          },
        });
        const server = servers[name] ?? "";
        await setServerMetadata(cloud, server, { [INITIALIZED_KEY]: "true" });
        done[name] = server;
        session.progress(`${name} is initialized (node agent ${version})`);
      }),
    );
  })
    .catch((error: unknown) => [{ text: describeFailure({ resource, step: "reach the cloud" }, error) }])
    .finally(() => engine.stop());
  const outputs = { ...withoutCredentials(inputs), marked: done };
  if (failures.length === 0) return outputs;
  const context = { resource, step: "mark the servers" };
  throw new PartialFailure(specification.name, outputs, context, errorOf(failures));
}

export const handlers: Handlers = {
  check(olds: Partial<Outputs>, news: Inputs) {
    const isUnread = isUnknown(news.servers) || !isKnownList(news.machines);
    // In a preview, the unknown id of a new server differs from the old id, so preview and run have the same lines.
    const steps = isUnread
      ? [initializedMarkSteps.format({ kind: "unknown", until: "the machines exist" })]
      : unmarked(olds.servers ?? {}, news).map(({ name: machine }) =>
          initializedMarkSteps.format({ kind: "mark", machine }),
        );
    return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const changes =
      !isDeepStrictEqual(olds.marked, news.servers) ||
      // The next run needs these to connect to the cloud.
      !isDeepStrictEqual([olds.cloud, olds.region], [news.cloud, news.region]);
    return Promise.resolve({ changes });
  },

  async create(inputs: Inputs) {
    return { id: inputs.specification.name, outs: await mark({}, inputs) };
  },

  async update(_id, olds: Outputs, news: Inputs) {
    return { outs: await mark(olds.marked, news) };
  },
};
