import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lib/wait";
import { engineSignal } from "../../../lib/process/parent-watch";
import { initializedScript } from "../../kubeadm/machine/steps";
import type { Machine } from "../../kubeadm/plan/machine";
import { initializedMarkSteps } from "../plan/steps";
import { INITIALIZED_KEY } from "../plan/machine";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { allInParallel, MachinesSession } from "../../kubeadm/resources/machines-session";
import { report } from "../../../lib/pulumi/log";
import { isKnownList, isUnknown } from "../../../lib/unknown";
import type { InitializedMarkInputs as Inputs, InitializedMarkOutputs as Outputs } from "./initialized-mark";

const ASK_SECONDS = 60;

const nameOf = ({ specification }: Inputs) => `InitializedMark ${specification.name}`;

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
  const { Cloud, setServerMetadata } = await import("../client/index.js");
  const { specification, servers, timeouts } = inputs;
  const session = new MachinesSession(nameOf(inputs), inputs);
  const engine = engineSignal();
  const progress = (line: string) => report(session.resource, line);
  const done = Object.fromEntries(Object.entries(marked).filter(([name, id]) => servers[name] === id));
  const failures: string[] = [];
  let cloud: InstanceType<typeof Cloud> | undefined;
  try {
    const open = await Cloud.open(inputs, { progress, signal: engine.signal });
    cloud = open;
    await allInParallel(unmarked(marked, inputs), async (machine) => {
      const server = servers[machine.name] ?? "";
      try {
        const version = await agentVersion(session, inputs, machine, timeouts.ready, engine.signal);
        await setServerMetadata(open, server, { [INITIALIZED_KEY]: "true" });
        done[machine.name] = server;
        report(session.resource, `${machine.name} is initialized (node agent ${version})`);
      } catch (error) {
        failures.push(describeFailure({ resource: machine.name, step: "mark as initialized" }, error));
      }
    });
  } catch (error) {
    failures.push(describeFailure({ resource: session.resource, step: "reach the cloud" }, error));
  } finally {
    engine.stop();
    session.close();
    cloud?.close();
  }
  const outputs = { ...inputs, marked: done };
  if (failures.length === 0) return outputs;
  throw new PartialFailure(
    specification.name,
    outputs,
    { resource: session.resource, step: "mark the servers" },
    new Error(failures.sort().join("\n")),
  );
}

/** Waits until the node agent of a machine reports it as ready. @returns the agent's version */
function agentVersion(
  session: MachinesSession,
  { specification }: Inputs,
  machine: Machine,
  seconds: number,
  signal: AbortSignal,
): Promise<string> {
  return waitFor<string>({
    what: `the node agent of ${machine.name} to find the machine ready`,
    seconds,
    signal,
    progress: (line) => report(session.resource, line),
    probe: async () => {
      const script = initializedScript(specification.name, machine.name);
      const answer = (await session.run(machine, script, { seconds: ASK_SECONDS })).trim();
      return answer === "" ? { pending: "it has not said so" } : { done: answer };
    },
  });
}

export const handlers: Handlers = {
  check(olds: Partial<Outputs>, news: Inputs) {
    if (isUnknown(news.servers) || !isKnownList(news.machines))
      return Promise.resolve({
        inputs: {
          ...news,
          steps: [initializedMarkSteps.format({ kind: "unknown", until: "the machines exist" })],
        },
        failures: [],
      });
    // In a preview, the unknown id of a new server differs from the old id, so preview and run have the same lines.
    const steps = unmarked(olds.servers ?? {}, news).map(({ name: machine }) =>
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
