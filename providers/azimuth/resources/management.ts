import type { KubernetesClient } from "../../../lib/kubernetes";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { askCluster, type ClusterWork, onCluster } from "../../kubernetes/resources/inputs";
import type { AzimuthInputs } from "./declarations";

/** What a handler needs to work on the management cluster. */
type ManagementWork = Omit<ClusterWork, "kubernetes"> & { management: KubernetesClient };

const nameOf = (type: string, { namespace, cluster }: AzimuthInputs) => `${type} ${namespace}/${cluster}`;

/**
 * Runs work on the management cluster for one resource, until the engine ends.
 *
 * @param step the step's name for failure messages
 */
export function onManagement<T>(
  type: string,
  inputs: AzimuthInputs,
  step: string,
  work: (work: ManagementWork) => Promise<T>,
): Promise<T> {
  const context = { resource: nameOf(type, inputs), step };
  return onCluster(inputs, context, ({ kubernetes, ...rest }) => work({ management: kubernetes, ...rest }));
}

/** Prints a line of a resource in a preview. */
export function reportOf(type: string, inputs: AzimuthInputs, line: string): void {
  report(nameOf(type, inputs), line);
}

/**
 * Handlers of a resource of a cluster, which another namespace or name replaces, and another kubeconfig updates.
 *
 * @param options.isChanged whether something else is an update
 * @param options.write creates or updates; returns the outputs
 */
export function clusterHandlers<Inputs extends AzimuthInputs, Outputs extends Inputs = Inputs>(options: {
  check?: (olds: Partial<Outputs>, news: Inputs) => Promise<{ inputs: Inputs; failures?: CheckFailure[] }>;
  isChanged: (olds: Outputs, news: Inputs) => boolean | Promise<boolean>;
  write: (news: Inputs, olds?: Outputs) => Outputs | Promise<Outputs>;
  delete?: (olds: Outputs) => Promise<void>;
  id?: (inputs: Inputs) => string;
}): Handlers {
  const { isChanged, write, id = ({ namespace, cluster }) => `${namespace}/${cluster}` } = options;
  return {
    check: async (olds: Partial<Outputs>, news: Inputs) => ({
      failures: [],
      ...((await options.check?.(olds, news)) ?? { inputs: news }),
    }),

    async diff(_id, olds: Outputs, news: Inputs) {
      const replaces = (["namespace", "cluster"] as const).filter((field) => olds[field] !== news[field]);
      const changes =
        replaces.length > 0 || olds.kubeconfig !== news.kubeconfig || (await isChanged(olds, news));
      return { changes, replaces };
    },

    create: async (inputs: Inputs) => ({ id: id(inputs), outs: await write(inputs) }),

    update: async (_id, olds: Outputs, news: Inputs) => ({ outs: await write(news, olds) }),

    ...(options.delete && { delete: (_id: string, olds: Outputs) => options.delete!(olds) }),
  };
}

interface CheckFailure {
  property: string;
  reason: string;
}

/** The difference between what is on the management cluster and what should be there. */
export interface Comparison {
  /** Whether the next run writes it. */
  readonly isDue: boolean;
  /** One line for each write. */
  readonly lines: readonly string[];
  /** Reported, whether anything is due or not. */
  readonly problem?: string;
}

/**
 * Handlers of a resource that compares what is on the management cluster with what should be there, and writes the
 * difference. A management cluster that does not answer in a preview has no difference.
 *
 * @param options.field an input whose change is an update by itself
 * @param options.step the step's name for failure messages
 */
export function comparingHandlers<Inputs extends AzimuthInputs, Found extends Comparison>(options: {
  type: string;
  field: keyof Inputs;
  step: string;
  compare: (management: KubernetesClient, inputs: Inputs) => Promise<Found>;
  write: (management: KubernetesClient, inputs: Inputs, found: Found) => Promise<void>;
}): Handlers {
  const { type, field, step, compare, write } = options;
  return clusterHandlers<Inputs>({
    async isChanged(olds, news) {
      if (olds[field] !== news[field]) return true;
      const asked = await askCluster(news, (management) => compare(management, news));
      if ("silence" in asked) return false;
      const { isDue, lines, problem } = asked.answer;
      if (problem !== undefined) reportOf(type, news, problem);
      if (isDue) for (const line of lines) reportOf(type, news, `will write: ${line}`);
      return isDue;
    },
    write: (inputs) =>
      onManagement(type, inputs, step, async ({ management, progress }) => {
        const found = await compare(management, inputs);
        if (found.problem !== undefined) progress(found.problem);
        for (const line of found.lines) progress(line);
        await write(management, inputs, found);
        return inputs;
      }),
  });
}
