import { isDeepStrictEqual } from "node:util";
import { endpointScript, type Backend } from "../machine/steps";
import type { Machine } from "../plan/machine";
import { loopbackEndpointSteps } from "../plan/steps";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { allInParallel, MachinesSession } from "./machines-session";
import { isKnownList } from "../../../lib/unknown";
import { report } from "../../../lib/pulumi/log";
import type { LoopbackEndpointInputs as Inputs } from "./loopback-endpoint";

const REWRITE_SECONDS = 120;

/** Returns the control planes in the form of the forwarders' configuration. */
function backendsOf(machines: Machine[]): Backend[] {
  return machines
    .filter(({ role }) => role === "control-plane")
    .map(({ name, internalAddress }) => ({ name, address: internalAddress }));
}

/** Returns every machine if the control planes changed, otherwise none; also none while the machines are unknown. */
function toRewrite(olds: Partial<Inputs>, news: Inputs): Machine[] {
  if (!olds.machines || !isKnownList(olds.machines) || !isKnownList(news.machines)) return [];
  return isDeepStrictEqual(backendsOf(olds.machines), backendsOf(news.machines)) ? [] : news.machines;
}

async function rewrite(inputs: Inputs, machines: Machine[]): Promise<void> {
  const { endpoint, name } = inputs.specification;
  if (!("loopback" in endpoint)) return;
  const { port } = endpoint.loopback;
  const session = new MachinesSession(`LoopbackEndpoint ${name}`, inputs);
  const failures: string[] = [];
  try {
    await allInParallel(machines, async (machine) => {
      try {
        const script = endpointScript(machine.name, port, backendsOf(inputs.machines));
        await session.run(machine, script, { seconds: REWRITE_SECONDS });
      } catch (error) {
        failures.push(
          describeFailure({ resource: machine.name, step: "rewrite the loopback endpoint" }, error),
        );
      }
    });
    if (failures.length > 0) throw new Error(failures.sort().join("\n"));
    if (machines.length > 0)
      report(session.resource, `rewritten on ${machines.map((machine) => machine.name).join(", ")}`);
  } finally {
    session.close();
  }
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    const machines = toRewrite(olds, news);
    const controlPlanes = machines.length === 0 ? [] : backendsOf(news.machines).map(({ name }) => name);
    const steps = machines.map(({ name: machine }) =>
      loopbackEndpointSteps.format({ kind: "forward", machine, controlPlanes }),
    );
    return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
  },

  diff: (_id, olds: Inputs, news: Inputs) =>
    Promise.resolve({ changes: !isKnownList(news.machines) || toRewrite(olds, news).length > 0 }),

  // the preparation of each machine has written the same control planes
  create: (inputs: Inputs) => Promise.resolve({ id: inputs.specification.name, outs: inputs }),

  async update(_id, _olds: Inputs, news: Inputs) {
    try {
      await rewrite(news, news.machines);
      return { outs: news };
    } catch (error) {
      // not a partial failure: state keeps the earlier control planes, so that the next preview lists every rewrite
      // again
      const context = { resource: `LoopbackEndpoint ${news.specification.name}`, step: "rewrite" };
      throw new Error(describeFailure(context, error), { cause: error });
    }
  },
};
