import { isDeepStrictEqual } from "node:util";
import { backendsOf, endpointScript, type Backend } from "../machine/steps";
import { hasRotatedKey, withoutCredentials, type Machine } from "../plan/machine";
import { loopbackEndpointSteps } from "../plan/steps";
import { explained } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { failuresOfEach, withMachines } from "./machines-session";
import { reportRecorded } from "../../../lib/pulumi/log";
import { isKnownList } from "../../../lib/unknown";
import type { LoopbackEndpointInputs as Inputs } from "./declarations";
import { cutList } from "../../../lib/text/quote";

const REWRITE_SECONDS = 120;

const nameOf = ({ specification }: Inputs) => `LoopbackEndpoint ${specification.name}`;

/** Returns the control planes in the form of the forwarders' configuration. */
function controlPlanesOf(machines: Machine[]): Backend[] {
  return backendsOf(machines.filter(({ role }) => role === "control-plane"));
}

/** Returns every machine if the control planes changed, otherwise none; also none while the machines are unknown. */
function toRewrite(olds: Partial<Inputs>, news: Inputs): Machine[] {
  if (!olds.machines || !isKnownList(olds.machines) || !isKnownList(news.machines)) return [];
  return isDeepStrictEqual(controlPlanesOf(olds.machines), controlPlanesOf(news.machines))
    ? []
    : news.machines;
}

async function rewrite(resource: string, inputs: Inputs): Promise<void> {
  const { specification, machines } = inputs;
  const { endpoint } = specification;
  if (!("loopback" in endpoint)) return;
  const { port } = endpoint.loopback;
  await withMachines(resource, inputs, async (session) => {
    const failures = await failuresOfEach(machines, "rewrite the loopback endpoint", async (machine) => {
      const script = endpointScript(machine.name, port, controlPlanesOf(machines));
      await session.run(machine, script, { seconds: REWRITE_SECONDS });
    });
    if (failures.length > 0)
      throw new Error(
        cutList(
          failures.map(({ text }) => text),
          "\n",
        ),
      );
    if (machines.length > 0) session.progress(`rewritten on ${machines.map(({ name }) => name).join(", ")}`);
  });
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    const machines = toRewrite(olds, news);
    const controlPlanes = machines.length === 0 ? [] : controlPlanesOf(news.machines).map(({ name }) => name);
    const steps = machines.map(({ name: machine }) =>
      loopbackEndpointSteps.format({ kind: "forward", machine, controlPlanes }),
    );
    const inputs = { ...news, steps };
    reportRecorded(nameOf(news), olds, inputs, ["credentials"]);
    return Promise.resolve({ inputs, failures: [] });
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const rewrites = !isKnownList(news.machines) || toRewrite(olds, news).length > 0;
    return Promise.resolve({ changes: rewrites || hasRotatedKey(olds, news) });
  },

  // the preparation of each machine has written the same control planes
  create: (inputs: Inputs) =>
    Promise.resolve({ id: inputs.specification.name, outs: withoutCredentials(inputs) }),

  async update(_id, olds: Inputs, news: Inputs) {
    const resource = nameOf(news);
    // not a partial failure: state keeps the earlier control planes, so that the next preview lists every rewrite again
    if (toRewrite(olds, news).length > 0)
      await explained({ resource, step: "rewrite" }, () => rewrite(resource, news));
    return { outs: withoutCredentials(news) };
  },
};
