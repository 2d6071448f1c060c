import { isDeepStrictEqual } from "node:util";
import { isRefusal } from "../client";
import { waitFor } from "../../../lib/wait";
import { ReasonedError } from "../plan/reasons";
import { tumblebugLoadBalancerSteps } from "../plan/steps";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { runStep, withServer } from "./server";
import type {
  TumblebugLoadBalancerInputs as Inputs,
  TumblebugLoadBalancerOutputs as Outputs,
} from "./declarations";

/** Inputs whose changes update a load balancer; all others apply at creation only. */
const COMPARED = ["server", "machines", "vms"] as const;

const added = (before: readonly string[], after: readonly string[]): string[] =>
  after.filter((one) => !before.includes(one));

const resourceOf = ({ group }: Inputs) => `load balancer of ${group}`;

export const handlers: Handlers = {
  check(olds: Partial<Outputs>, news: Inputs) {
    const { format } = tumblebugLoadBalancerSteps;
    const { port, machines } = news;
    const before = olds.machines;
    const steps =
      before === undefined
        ? [format({ kind: "create", port, machines })]
        : [
            ...added(before, machines).map((machine) => format({ kind: "add", machine })),
            ...added(machines, before).map((machine) => format({ kind: "remove", machine })),
          ];
    return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const changes = COMPARED.some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes });
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
            await loadBalancers.create(namespace, infrastructure, { group, port, targetPort });
          } catch (error) {
            // The MCIS belongs to this stack, so the existing load balancer does too.
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
      const cause = ReasonedError.from("CreateNLBFailedReason", error);
      const context = { resource, step: "create" };
      if (begun) throw new PartialFailure(id, { ...inputs, address: "" }, context, cause);
      throw new Error(describeFailure(context, cause), { cause: error });
    }
  },

  async update(_id, olds: Outputs, news: Inputs) {
    const { namespace, infrastructure, group, server } = news;
    const resource = resourceOf(news);
    const desired = Object.values(news.vms);
    await runStep({ resource, step: "follow the control planes" }, server, async ({ loadBalancers }) => {
      const found = await loadBalancers.read(namespace, infrastructure, group);
      if (!found) throw new Error(`the ${resource} no longer exists; run \`pulumi refresh\` first`);
      await loadBalancers.addMachines(namespace, infrastructure, group, added(found.machines, desired));
      await loadBalancers.removeMachines(namespace, infrastructure, group, added(desired, found.machines));
    });
    return { outs: { ...olds, ...news } };
  },

  read: (id, outputs: Outputs) =>
    withServer(resourceOf(outputs), outputs.server, async ({ loadBalancers }) => {
      const { namespace, infrastructure, group } = outputs;
      const found = await loadBalancers.read(namespace, infrastructure, group);
      if (!found) return { id: "", props: {} };
      return { id, props: { ...outputs, address: found.address ?? outputs.address } };
    }),

  async delete(_id, outputs: Outputs) {
    const { server, namespace, infrastructure, group } = outputs;
    await runStep({ resource: resourceOf(outputs), step: "delete" }, server, ({ loadBalancers }) =>
      loadBalancers.delete(namespace, infrastructure, group),
    );
  },
};
