import { isDeepStrictEqual } from "node:util";
import { isRefusal } from "../client";
import { carriesMark, markedDescription } from "../../../lib/pulumi/marks";
import { tumblebugNamespaceSteps } from "../plan/steps";
import { describeFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { withServer } from "./server";
import type { NamespaceInputs as Inputs, NamespaceOutputs as Outputs } from "./tumblebug-namespace";

const resourceOf = ({ name }: Inputs) => `namespace ${name}`;

export const handlers: Handlers = {
  check(olds: Partial<Outputs>, news: Inputs) {
    const kind = news.foreign ? "use" : "create";
    const step = tumblebugNamespaceSteps.format({ kind, name: news.name });
    return Promise.resolve({
      inputs: { ...news, steps: olds.name === news.name ? [] : [step] },
      failures: [],
    });
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const replaces = olds.name === news.name ? [] : ["name"];
    const changes =
      replaces.length > 0 ||
      (["server", "keepOnDelete"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes, replaces });
  },

  async create(inputs: Inputs) {
    const { name, mark } = inputs;
    const resource = resourceOf(inputs);
    try {
      return await withServer(resource, inputs.server, async ({ namespaces }) => {
        let found = await namespaces.read(name);
        let made = found !== undefined && carriesMark(found.description, mark);
        if (!found)
          try {
            found = await namespaces.create({ name, description: markedDescription(mark) });
            made = true;
          } catch (error) {
            // Another client created it in the meantime.
            found = isRefusal(error, "AlreadyExists") ? await namespaces.read(name) : undefined;
            if (!found) throw error;
          }
        return { id: name, outs: { ...inputs, made } };
      });
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "create" }, error), { cause: error });
    }
  },

  update: (_id, olds: Outputs, news: Inputs) => Promise.resolve({ outs: { ...olds, ...news } }),

  read: (id, outputs: Outputs) =>
    withServer(resourceOf(outputs), outputs.server, async ({ namespaces }) =>
      (await namespaces.read(outputs.name)) ? { id, props: outputs } : { id: "", props: {} },
    ),

  async delete(_id, outputs: Outputs) {
    const resource = resourceOf(outputs);
    if (!outputs.made || outputs.keepOnDelete) {
      report(resource, outputs.made ? "stays, as keepOnDelete says" : "stays, since others made it");
      return;
    }
    try {
      await withServer(resource, outputs.server, ({ namespaces }) => namespaces.delete(outputs.name));
    } catch (error) {
      // Objects of other owners in the namespace are kept.
      if (isRefusal(error, "InUse")) report(resource, `stays: ${(error as Error).message}`);
      else throw new Error(describeFailure({ resource, step: "delete" }, error), { cause: error });
    }
  },
};
