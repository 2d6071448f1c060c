import type { KubernetesClient } from "../../../lib/kubernetes";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { askCluster, type ClusterWork, onCluster } from "../../kubernetes/resources/inputs";
import { type AzimuthInputs, movedFields, nameOf, progressOf } from "./cluster-inputs";

/** What a handler needs to work on the management cluster. */
type ManagementWork = Omit<ClusterWork, "kubernetes"> & { management: KubernetesClient };

/**
 * Runs work on the management cluster for one resource, until the engine ends.
 *
 * @param step the step's name for failure messages
 * @param saved returns id and properties for the state, once there is a side effect to record
 */
export function onManagement<T>(
  type: string,
  inputs: AzimuthInputs,
  step: string,
  work: (work: ManagementWork) => Promise<T>,
  saved?: () => { id: string; properties: object } | undefined,
): Promise<T> {
  const context = { resource: nameOf(type, inputs), step };
  return onCluster(inputs, context, ({ kubernetes, ...rest }) => work({ management: kubernetes, ...rest }), {
    saved,
  });
}

/** What a resource would write now. */
interface Due {
  readonly isDue: boolean;
  readonly lines: readonly string[];
  /** Reported, whether anything is due or not. */
  readonly problem?: string;
}

/**
 * Handlers of a resource that compares what is on the management cluster with what should be there, and writes the
 * difference. A management cluster that does not answer in a preview has no difference.
 *
 * @param options.field an input whose change is an update by itself
 */
export function comparingHandlers<Inputs extends AzimuthInputs>(options: {
  type: string;
  field: keyof Inputs;
  due: (management: KubernetesClient, inputs: Inputs) => Promise<Due>;
  write: (inputs: Inputs) => Promise<void>;
}): Handlers {
  const { type, field, due, write } = options;
  const written = async (inputs: Inputs) => {
    await write(inputs);
    return inputs;
  };
  return {
    check: (_olds, news: Inputs) => Promise.resolve({ inputs: news, failures: [] }),

    async diff(_id, olds: Inputs, news: Inputs) {
      const replaces = movedFields(olds, news);
      if (replaces.length > 0) return { changes: true, replaces };
      if (olds.kubeconfig !== news.kubeconfig || olds[field] !== news[field]) return { changes: true };
      const asked = await askCluster(news, (management) => due(management, news));
      if ("silence" in asked) return { changes: false };
      const { isDue, lines, problem } = asked.answer;
      const progress = progressOf(nameOf(type, news));
      if (problem !== undefined) progress(problem);
      if (!isDue) return { changes: false };
      for (const line of lines) progress(`will write: ${line}`);
      return { changes: true };
    },

    create: async (inputs: Inputs) => ({
      id: `${inputs.namespace}/${inputs.cluster}`,
      outs: await written(inputs),
    }),

    update: async (_id, _olds: Inputs, news: Inputs) => ({ outs: await written(news) }),
  };
}
