import { isDeepStrictEqual } from "node:util";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { apiGroupOf } from "../../kubernetes/plan/identity";
import { askCluster, isNotServed, onCluster } from "../../kubernetes/resources/inputs";
import { listed } from "../../../lib/text/quote";
import { machinesToGo, waitWords } from "../plan/evaluation";
import { defined } from "../plan/observed";
import { type OutdatedMachines, templateChange } from "../plan/roll";
import { machinePoolSteps, type MachinePoolStep, type PoolBefore, poolSteps } from "../plan/steps";
import { troublesBeside } from "../plan/troubles";
import { followPool } from "./follow";
import type { PoolInputs, PoolOutputs } from "./machine-pool-ready";
import { type Look, poolNodes, PoolSession } from "./pool-session";

const idOf = ({ namespace, name }: PoolInputs) => `${namespace}/${name}`;
const nameOf = (inputs: PoolInputs) => `MachinePoolReady ${idOf(inputs)}`;

/** Follows the pool until it is ready. Changes nothing, so a failed run can be repeated. */
function follow(inputs: PoolInputs, olds?: PoolOutputs): Promise<PoolOutputs> {
  // the next run must wait again, even if this one changed other inputs
  const saved = () => olds && { id: idOf(olds), properties: { ...olds, ...inputs, ready: false } };
  const context = { resource: nameOf(inputs), step: "follow the pool" };
  return onCluster(
    inputs,
    context,
    (work) =>
      PoolSession.run(inputs, work, async (session) => {
        const { signal, progress } = work;
        const { phase, counts, replicas: wanted } = olds ?? {};
        const before = olds && { phase, ...defined({ counts, wanted }) };
        const followed = await followPool(session, inputs, { before, signal, progress });
        const outputs = outputsOf(inputs, followed, true);
        const names = outputs.nodes.map(({ name }) => name).join(", ") || "none wanted";
        progress(`every node is Ready: ${names}`);
        return outputs;
      }),
    { readsOnly: true, saved },
  );
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
 * Reads the state once, for previews; the answer is undefined for a pool that does not exist.
 *
 * @param last the inputs of the last run, when this one may change the pool's template
 */
function look(
  inputs: PoolInputs,
  last?: Partial<PoolInputs>,
): Promise<{ answer: Look | undefined } | { silence: string }> {
  return askCluster(inputs, (kubernetes) =>
    PoolSession.run(inputs, { kubernetes }, (session) => session.look(last)).catch((error: unknown) => {
      if (isNotServed(error)) return undefined;
      throw error;
    }),
  );
}

/** Returns the pool before this run: from the last run's inputs, or else from its current machines. */
function before(
  olds: Partial<PoolInputs>,
  { template, inPlaceFields }: PoolInputs,
  found: Look | undefined,
): PoolBefore | undefined {
  const outdated = found && machinesToGo(found.pool, found).length;
  if (olds.template !== undefined)
    return {
      ...defined({ replicas: olds.replicas, version: olds.version, outdated }),
      change: found?.isUnderway ? "none" : templateChange(olds.template, template, inPlaceFields),
    };
  if (found === undefined || !found.pool.infrastructureReady) return undefined;
  const { counts, version } = found.pool;
  return { replicas: counts.replicas, ...(version && { version }), change: "none" };
}

function stateSteps({ name: pool }: PoolInputs, look: Look): MachinePoolStep[] {
  const { conclusion: evaluation } = look;
  const state = (words: string) =>
    listed([words, ...troublesBeside(words, look.troubles)], { most: 4, longest: 600, separator: "; " });
  if ("waits" in evaluation)
    return [{ kind: "waits", pool, state: state(waitWords(look.pool, evaluation.waits)) }];
  return "failed" in evaluation ? [{ kind: "failed", pool, why: evaluation.failed }] : [];
}

/** Returns the steps of a run, and the machines that it has to replace. */
async function plan(
  olds: Partial<PoolInputs>,
  news: PoolInputs,
): Promise<{ steps: MachinePoolStep[]; outdated?: OutdatedMachines[] | undefined }> {
  const { template, ...others } = news;
  const { outdated } = olds;
  if (!isKnown({ ...others, kubeconfig: "", workloadKubeconfig: "" }))
    return { steps: [{ kind: "unknown", until: "its values are known" }], outdated };
  const known = isKnown(template) ? news : { ...news, template: olds.template ?? template };
  const asked = await look(known, olds);
  const found = "answer" in asked ? asked.answer : undefined;
  const steps = poolSteps(news, before(olds, known, found));
  if ("silence" in asked)
    return { steps: [{ kind: "notRead", pool: news.name, why: asked.silence }, ...steps], outdated };
  if (found === undefined) return { steps: steps.length > 0 ? steps : poolSteps(news, undefined) };
  return { steps: steps.length > 0 ? steps : stateSteps(news, found), outdated: [...found.outdated] };
}

export const handlers: Handlers = {
  async check(olds: Partial<PoolInputs>, news: PoolInputs) {
    const { steps, outdated = [] } = await plan(olds, news);
    const inputs = { ...news, steps: steps.map(machinePoolSteps.format) };
    return { inputs: outdated.length > 0 ? { ...inputs, outdated } : inputs, failures: [] };
  },

  async diff(_id, olds: PoolOutputs, news: PoolInputs) {
    const named = ({ apiVersion, namespace, name }: PoolInputs) => [apiGroupOf(apiVersion), namespace, name];
    if (!isDeepStrictEqual(named(olds), named(news))) return { changes: true, replaces: ["name"] };
    const desired = (inputs: PoolInputs) => {
      const { kubeconfig, workloadKubeconfig, apiVersion, cluster, replicas, version, template } = inputs;
      return { kubeconfig, workloadKubeconfig, apiVersion, cluster, replicas, version, template };
    };
    if (!olds.ready || !isDeepStrictEqual(desired(olds), desired(news))) return { changes: true };
    const asked = await look(news);
    if ("silence" in asked) return { changes: false };
    const { pool, conclusion } = asked.answer ?? {};
    return { changes: conclusion === undefined || pool?.uid !== olds.uid || !("ready" in conclusion) };
  },

  create: async (inputs: PoolInputs) => ({ id: idOf(inputs), outs: await follow(inputs) }),

  update: async (_id, olds: PoolOutputs, news: PoolInputs) => ({ outs: await follow(news, olds) }),

  async read(id, props: PoolOutputs) {
    const asked = await look(props);
    if ("silence" in asked) throw new Error(`${nameOf(props)}: ${asked.silence}`);
    if (asked.answer === undefined) return {};
    for (const step of stateSteps(props, asked.answer)) report(nameOf(props), machinePoolSteps.format(step));
    return { id, props: outputsOf(props, asked.answer, "ready" in asked.answer.conclusion) };
  },
};
