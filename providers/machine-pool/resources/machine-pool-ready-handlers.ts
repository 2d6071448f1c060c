import { isDeepStrictEqual } from "node:util";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { groupOf } from "../../kubernetes/plan/identity";
import { askCluster, isNotServed, onCluster } from "../../kubernetes/resources/inputs";
import { waitWords } from "../plan/evaluation";
import { defined } from "../plan/observed";
import { machinePoolSteps, type MachinePoolStep, type PoolBefore, poolSteps } from "../plan/steps";
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

/** Reads the state once, for previews; the answer is undefined for a pool that does not exist. */
function look(inputs: PoolInputs): Promise<{ answer: Look | undefined } | { silence: string }> {
  return askCluster(inputs, (kubernetes) =>
    PoolSession.run(inputs, { kubernetes }, (session) => session.look()).catch((error: unknown) => {
      if (isNotServed(error)) return undefined;
      throw error;
    }),
  );
}

/** Returns the pool before this run: from the last run's inputs, or else from its current machines. */
function before(
  olds: Partial<PoolInputs>,
  { template }: PoolInputs,
  found: Look | undefined,
): PoolBefore | undefined {
  if (olds.template !== undefined)
    return {
      ...defined({ replicas: olds.replicas, version: olds.version }),
      isSameTemplate: isDeepStrictEqual(olds.template.rest, template.rest),
      isReplaced: olds.template.infrastructure !== template.infrastructure,
    };
  if (found === undefined || !found.pool.infrastructureReady) return undefined;
  const { counts, version } = found.pool;
  return { replicas: counts.replicas, ...(version && { version }), isSameTemplate: true, isReplaced: false };
}

function stateSteps({ name: pool }: PoolInputs, look: Look): MachinePoolStep[] {
  const { conclusion: evaluation } = look;
  if ("waits" in evaluation) return [{ kind: "waits", pool, state: waitWords(look.pool, evaluation.waits) }];
  return "failed" in evaluation ? [{ kind: "failed", pool, why: evaluation.failed }] : [];
}

async function plan(olds: Partial<PoolInputs>, news: PoolInputs): Promise<MachinePoolStep[]> {
  const { template, ...others } = news;
  if (!isKnown({ ...others, kubeconfig: "", workloadKubeconfig: "" }))
    return [{ kind: "unknown", until: "its values are known" }];
  const asked = await look(news);
  const found = "answer" in asked ? asked.answer : undefined;
  const known = isKnown(template) ? news : { ...news, template: olds.template ?? template };
  const steps = poolSteps(news, before(olds, known, found));
  if ("silence" in asked) return [{ kind: "notRead", pool: news.name, why: asked.silence }, ...steps];
  if (steps.length > 0) return steps;
  return found === undefined ? poolSteps(news, undefined) : stateSteps(news, found);
}

export const handlers: Handlers = {
  async check(olds: Partial<PoolInputs>, news: PoolInputs) {
    const steps = (await plan(olds, news)).map(machinePoolSteps.format);
    return { inputs: { ...news, steps }, failures: [] };
  },

  async diff(_id, olds: PoolOutputs, news: PoolInputs) {
    const named = ({ apiVersion, namespace, name }: PoolInputs) => [groupOf(apiVersion), namespace, name];
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
