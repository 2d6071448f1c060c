import { isDeepStrictEqual } from "node:util";
import { backendsOf, endpointScript, type Backend } from "../../machine/steps";
import { controlPlanesOf, hasRotatedKey, withoutCredentials, type Machine } from "../../plan/cluster/machine";
import { observeRolloutNode } from "../../plan/rollout/observed";
import { leftOutStep, outOfReach, type LeftOut } from "../../plan/rollout/state";
import { loopbackEndpointSteps, type LoopbackEndpointStep } from "../../plan/steps";
import { toleratedUnreachable } from "../../plan/membership/unreachable";
import { explained } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { errorOf, failuresOfEach, withMachines } from "../session/machines-session";
import { readForCheck } from "../session/preview-reading";
import { report, reportRecorded } from "../../../../lib/pulumi/log";
import { isKnownList } from "../../../../lib/unknown";
import type { LoopbackEndpointInputs as Inputs } from "../declarations";

const REWRITE_SECONDS = 120;

const nameOf = ({ specification }: Inputs) => `LoopbackEndpoint ${specification.name}`;

/** Returns the control planes in the form of the forwarders' configuration. */
const backendsIn = (machines: Machine[]): Backend[] => backendsOf(controlPlanesOf(machines));

/** Returns what the state keeps after a run: the forwarders name no workers (docs/adr/0057-state-of-large-clusters.md). */
const outputsOf = (inputs: Inputs): Inputs =>
  withoutCredentials({ ...inputs, machines: controlPlanesOf(inputs.machines) });

/**
 * Returns every machine if the control planes changed, and otherwise those that the last run left out; none while the
 * machines are unknown.
 */
function toRewrite(olds: Partial<Inputs>, news: Inputs): Machine[] {
  if (!olds.machines || !isKnownList(olds.machines) || !isKnownList(news.machines)) return [];
  const { leftOut = [] } = olds;
  return isDeepStrictEqual(backendsIn(olds.machines), backendsIn(news.machines))
    ? news.machines.filter(({ name }) => leftOut.includes(name))
    : news.machines;
}

/** Returns those of the machines that are unreachable, with the reasons, if the configuration tolerates all of them. */
async function toleratedOf(due: Machine[], olds: Partial<Inputs>, news: Inputs): Promise<LeftOut[]> {
  if (news.unreachable === undefined || due.length === 0) return [];
  const answer = await readForCheck(nameOf(news), olds, news, async ({ listNodes }) =>
    (await listNodes()).map((node) => observeRolloutNode(node)),
  );
  const unreachable = (answer?.facts ?? []).flatMap((node): LeftOut[] => {
    const reason = outOfReach(node, []);
    return reason !== undefined && due.some(({ name }) => name === node.name)
      ? [{ node: node.name, reason }]
      : [];
  });
  const names = unreachable.map(({ node }) => node);
  const { tolerated } = toleratedUnreachable(news.machines, names, news.unreachable);
  return unreachable.filter(({ node }) => tolerated.includes(node));
}

async function rewrite(resource: string, inputs: Inputs, due: Machine[]): Promise<void> {
  const { specification, machines } = inputs;
  const { endpoint } = specification;
  if (!("loopback" in endpoint)) return;
  const { port } = endpoint.loopback;
  await withMachines(resource, inputs, async (session) => {
    const failures = await failuresOfEach(due, "rewrite the loopback endpoint", async (machine) => {
      const script = endpointScript(session.cluster, machine.name, port, backendsIn(machines));
      await session.run(machine, script, { seconds: REWRITE_SECONDS });
    });
    if (failures.length > 0) throw errorOf(failures);
    if (due.length > 0) session.progress(`rewritten on ${due.map(({ name }) => name).join(", ")}`);
  });
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    const due = toRewrite(olds, news);
    const leftOut = await toleratedOf(due, olds, news);
    const names = leftOut.map(({ node }) => node);
    const controlPlanes = due.length === 0 ? [] : controlPlanesOf(news.machines).map(({ name }) => name);
    const forwards = due
      .filter(({ name }) => !names.includes(name))
      .map(({ name: machine }): LoopbackEndpointStep => ({ kind: "forward", machine, controlPlanes }));
    const steps = [...forwards, ...leftOut.map(leftOutStep)].map(loopbackEndpointSteps.format);
    const idle = due.length === 0 && isKnownList(news.machines);
    const machines = idle ? controlPlanesOf(news.machines) : news.machines;
    const inputs = { ...news, machines, steps, ...(names.length > 0 ? { leftOut: names } : {}) };
    reportRecorded(nameOf(news), olds, inputs, ["credentials"]);
    return { inputs, failures: [] };
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const rewrites = !isKnownList(news.machines) || toRewrite(olds, news).length > 0;
    return Promise.resolve({ changes: rewrites || hasRotatedKey(olds, news) });
  },

  // the preparation of each machine has written the same control planes
  create: (inputs: Inputs) => Promise.resolve({ id: inputs.specification.name, outs: outputsOf(inputs) }),

  async update(_id, olds: Inputs, news: Inputs) {
    const resource = nameOf(news);
    const { leftOut = [], steps = [] } = news;
    for (const line of steps)
      if (loopbackEndpointSteps.parse(line)?.kind === "leftOut") report(resource, line);
    const due = toRewrite(olds, news).filter(({ name }) => !leftOut.includes(name));
    // not a partial failure: state keeps the earlier control planes, so that the next preview lists every rewrite again
    if (due.length > 0) await explained({ resource, step: "rewrite" }, () => rewrite(resource, news, due));
    return { outs: outputsOf(news) };
  },
};
