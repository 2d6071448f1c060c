import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../clients/wait";
import { ReasonedError } from "../../core/tumblebug/reasons";
import { describeFailure, PartialFailure } from "../failure";
import type { Handlers } from "../handler-types";
import { report } from "../report";
import { isRefusal } from "./object-handlers";
import { withServer, type ServerInputs } from "./server";

interface Inputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  group: string;
  port: number;
  targetPort: number;
  machines: string[];
  timeoutSeconds: number;
  steps?: string[];
}

interface Outputs extends Inputs {
  address: string;
}

const resourceOf = ({ group }: Inputs) => `load balancer of ${group}`;

export const handlers: Handlers = {
  check(olds: Partial<Outputs>, news: Inputs) {
    const exists = olds.group !== undefined;
    const step = `create a load balancer on port ${news.port} in front of ${news.machines.join(", ")}`;
    const differs = exists && !isDeepStrictEqual(olds.machines, news.machines);
    const failures = differs
      ? [
          {
            property: "machines",
            reason:
              `Tumblebug's load balancer keeps the machines that it was made with (${(olds.machines ?? []).join(", ")}); ` +
              "set the control planes back, or make a new cluster with another number of them",
          },
        ]
      : [];
    return Promise.resolve({ inputs: { ...news, steps: exists ? [] : [step] }, failures });
  },

  diff(_id, olds: Outputs, news: Inputs) {
    return Promise.resolve({ changes: !isDeepStrictEqual(olds.server, news.server) });
  },

  async create(inputs: Inputs) {
    const { namespace, infrastructure, group, port, targetPort } = inputs;
    const resource = resourceOf(inputs);
    const id = [namespace, infrastructure, group].join("/");
    let begun = false;
    try {
      return await withServer(resource, inputs.server, async ({ loadBalancers }, signal) => {
        const read = () => loadBalancers.read(namespace, infrastructure, group);
        if (!(await read()))
          try {
            const wish = { group, port, targetPort, isPublic: true };
            await loadBalancers.create(namespace, infrastructure, wish);
          } catch (error) {
            // the MCIS is this stack's own, and so is whatever is in it
            if (!isRefusal(error, "AlreadyExists")) throw error;
          }
        begun = true;
        const address = await waitFor<string>({
          what: `the address of the ${resource}`,
          seconds: inputs.timeoutSeconds,
          signal,
          progress: (line) => report(resource, line),
          probe: async () => {
            const found = await read();
            return found?.address ? { done: found.address } : { pending: found?.status || "it has none yet" };
          },
        });
        return { id, outs: { ...inputs, address } };
      });
    } catch (error) {
      const cause = new ReasonedError(
        "CreateNLBFailedReason",
        error instanceof Error ? error.message : String(error),
        (error as { next?: string }).next,
      );
      const context = { resource, step: "create" };
      if (begun) throw new PartialFailure(id, { ...inputs, address: "" }, context, cause);
      throw new Error(describeFailure(context, cause), { cause: error });
    }
  },

  update: (_id, olds: Outputs, news: Inputs) => Promise.resolve({ outs: { ...olds, ...news } }),

  read: (id, outputs: Outputs) =>
    withServer(resourceOf(outputs), outputs.server, async ({ loadBalancers }) => {
      const { namespace, infrastructure, group } = outputs;
      const found = await loadBalancers.read(namespace, infrastructure, group);
      if (!found) return { id: "", props: {} };
      return { id, props: { ...outputs, address: found.address ?? outputs.address } };
    }),

  async delete(_id, outputs: Outputs) {
    const { namespace, infrastructure, group } = outputs;
    const resource = resourceOf(outputs);
    try {
      await withServer(resource, outputs.server, ({ loadBalancers }) =>
        loadBalancers.delete(namespace, infrastructure, group),
      );
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "delete" }, error), { cause: error });
    }
  },
};
