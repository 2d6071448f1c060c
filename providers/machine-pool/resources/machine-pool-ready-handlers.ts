import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../../lib/process/parent-watch";
import { waitWords, type PoolAsKnown } from "../plan/evaluation";
import { machinePoolSteps, type MachinePoolStep, type PoolBefore, poolSteps } from "../plan/steps";
import { groupOf } from "../../kubernetes/plan/identity";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { followPool } from "./follow";
import type { PoolInputs, PoolOutputs } from "./pool-inputs";
import { type Look, poolNodes, PoolSession } from "./pool-session";

const PREVIEW_SECONDS = 10;

const idOf = ({ namespace, name }: PoolInputs) => `${namespace}/${name}`;
const nameOf = (inputs: PoolInputs) => `MachinePoolReady ${idOf(inputs)}`;

/** Follows the pool until it is ready. Changes nothing, so a failed run can be repeated. */
async function follow(inputs: PoolInputs, before?: PoolAsKnown): Promise<PoolOutputs> {
  const resource = nameOf(inputs);
  const engine = engineSignal();
  const progress = (line: string) => report(resource, line);
  let session: PoolSession | undefined;
  try {
    session = await PoolSession.open(inputs, { signal: engine.signal, progress });
    const options = { ...(before && { before }), signal: engine.signal, progress };
    const followed = await followPool(session, inputs, options);
    const outputs = outputsOf(inputs, followed, true);
    progress(`every node is Ready: ${outputs.nodes.map(({ name }) => name).join(", ") || "none wanted"}`);
    return outputs;
  } finally {
    session?.close();
    engine.stop();
  }
}

function asKnown({ phase, counts, replicas }: PoolOutputs): PoolAsKnown {
  return { phase, counts, ...(replicas === undefined ? {} : { wanted: replicas }) };
}

function outputsOf(
  inputs: PoolInputs,
  { pool, nodes }: Pick<Look, "pool" | "nodes">,
  ready: boolean,
): PoolOutputs {
  const { uid, phase = "", counts } = pool;
  return { ...inputs, uid, phase, counts, ready, nodes: poolNodes(pool, nodes) };
}

/**
 * Reads the state once, for previews. @returns why nothing could be read; or undefined for a pool that does not exist
 */
async function look(inputs: PoolInputs): Promise<Look | undefined | string> {
  if (!isKnown(inputs.kubeconfig)) return "the management cluster is not there yet";
  const { KindNotServed, KubernetesUnreachable } = await import("../../../lib/kubernetes/index.js");
  let session: PoolSession | undefined;
  try {
    session = await PoolSession.open(inputs, { seconds: PREVIEW_SECONDS });
    return await session.look();
  } catch (error) {
    if (error instanceof KindNotServed) return undefined;
    if (error instanceof KubernetesUnreachable) return error.message;
    throw error;
  } finally {
    session?.close();
  }
}

/** Returns the pool before this run: from the last run's inputs, or else from its current machines. */
function before(
  olds: Partial<PoolInputs>,
  news: PoolInputs,
  found: Look | undefined,
): PoolBefore | undefined {
  if (olds.template !== undefined) {
    const { replicas, version, template } = olds;
    return {
      ...(replicas === undefined ? {} : { replicas }),
      ...(version === undefined ? {} : { version }),
      isSameTemplate: isDeepStrictEqual(template.rest, news.template.rest),
      isReplaced: template.infrastructure !== news.template.infrastructure,
    };
  }
  if (found === undefined || !found.pool.infrastructureReady) return undefined;
  const { counts, version } = found.pool;
  return { replicas: counts.replicas, ...(version && { version }), isSameTemplate: true, isReplaced: false };
}

function stateSteps({ name: pool }: PoolInputs, look: Look): MachinePoolStep[] {
  const { conclusion: evaluation } = look;
  if ("waits" in evaluation) return [{ kind: "waits", pool, state: waitWords(look.pool, evaluation.waits) }];
  return "failed" in evaluation ? [{ kind: "failed", pool, why: evaluation.failed }] : [];
}

export const handlers: Handlers = {
  async check(olds: Partial<PoolInputs>, news: PoolInputs) {
    const withSteps = (steps: readonly MachinePoolStep[]) => ({
      inputs: { ...news, steps: steps.map(machinePoolSteps.format) },
      failures: [],
    });
    const { template, ...others } = news;
    if (!isKnown({ ...others, kubeconfig: "", workloadKubeconfig: "" }))
      return withSteps([{ kind: "unknown", until: "its values are known" }]);
    const found = await look(news);
    const known = isKnown(template) ? news : { ...news, template: olds.template ?? template };
    if (typeof found === "string") {
      const steps = poolSteps(news, before(olds, known, undefined));
      return withSteps([{ kind: "notRead", pool: news.name, why: found }, ...steps]);
    }
    const steps = poolSteps(news, before(olds, known, found));
    if (steps.length > 0) return withSteps(steps);
    return withSteps(found === undefined ? poolSteps(news, undefined) : stateSteps(news, found));
  },

  async diff(_id, olds: PoolOutputs, news: PoolInputs) {
    const named = ({ apiVersion, namespace, name }: PoolInputs) => [groupOf(apiVersion), namespace, name];
    if (!isDeepStrictEqual(named(olds), named(news))) return { changes: true, replaces: ["name"] };
    const desired = (inputs: PoolInputs) => {
      const { kubeconfig, workloadKubeconfig, apiVersion, cluster, replicas, version, template } = inputs;
      return { kubeconfig, workloadKubeconfig, apiVersion, cluster, replicas, version, template };
    };
    if (!olds.ready || !isDeepStrictEqual(desired(olds), desired(news))) return { changes: true };
    const found = await look(news);
    if (typeof found === "string") return { changes: false };
    return { changes: found === undefined || found.pool.uid !== olds.uid || !("ready" in found.conclusion) };
  },

  async create(inputs: PoolInputs) {
    try {
      return { id: idOf(inputs), outs: await follow(inputs) };
    } catch (error) {
      throw new Error(describeFailure({ resource: nameOf(inputs), step: "follow the pool" }, error), {
        cause: error,
      });
    }
  },

  async update(id, olds: PoolOutputs, news: PoolInputs) {
    try {
      return { outs: await follow(news, asKnown(olds)) };
    } catch (error) {
      // the next run must wait again, even if this one changed other inputs
      const properties = { ...olds, ...news, ready: false };
      throw new PartialFailure(id, properties, { resource: nameOf(news), step: "follow the pool" }, error);
    }
  },

  async read(id, props: PoolOutputs) {
    const found = await look(props);
    if (typeof found === "string") throw new Error(`${nameOf(props)}: ${found}`);
    if (found === undefined) return {};
    const isReady = "ready" in found.conclusion;
    for (const step of stateSteps(props, found)) report(nameOf(props), machinePoolSteps.format(step));
    return { id: id, props: outputsOf(props, found, isReady) };
  },
};
