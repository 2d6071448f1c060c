import { SshUnreachable } from "../../../../lib/ssh/errors";
import { backendsOf } from "../../machine/steps";
import {
  refuseStaging,
  type ReportedAgent,
  leftToInstall,
  withConfiguration,
  type DesiredAgent,
} from "../../plan/rollout/node-agents";
import { AGENT_VERSION } from "../../machine/node-agent";
import { withGivenConfiguration } from "../../plan/configuration/rolled-configuration";
import { hasRotatedKey, withoutCredentials, type Machine } from "../../plan/cluster/machine";
import { leftOutStep } from "../../plan/rollout/state";
import { compareVersions } from "../../plan/rollout/versions";
import { nodeAgentsSteps, type NodeAgentsStep } from "../../plan/steps";
import { toleratedUnreachable } from "../../plan/membership/unreachable";
import { machineOfStep, stepsOfUnread } from "../../../../lib/steps/steps";
import { PartialFailure } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { isKnown, isKnownList } from "../../../../lib/unknown";
import { errorOf, failuresOfEach, rememberUnreached, withMachines } from "../session/machines-session";
import { report, reportRecorded } from "../../../../lib/pulumi/log";
import { installAgent } from "../membership/agent-installation";
import { silentAgents } from "./silent-agents";
import { readForCheck } from "../session/preview-reading";
import type { NodeAgentsInputs as Inputs, NodeAgentsOutputs as Outputs } from "../declarations";
import { listed } from "../../../../lib/text/quote";

const nameOf = ({ specification }: Inputs) => `NodeAgents ${specification.name}`;

/** Returns what the state has of this very machine; a rebuilt one has another host key. */
function recordedMachine(olds: Partial<Outputs>, machine: Machine): Machine | undefined {
  if (!olds.machines || !isKnownList(olds.machines)) return undefined;
  return olds.machines.find(({ name, hostKey }) => name === machine.name && hostKey === machine.hostKey);
}

interface Work {
  steps: NodeAgentsStep[];
  /** Names of unreachable machines that have work to do and are left to the next run. */
  leftOut: string[];
}

/** Returns what is left to do on each machine, from the Nodes if they are known and otherwise from the state. */
function workOf(
  olds: Partial<Outputs>,
  news: Inputs,
  reported: ReadonlyMap<string, ReportedAgent> = new Map(),
): Work {
  const due = news.machines
    .map((machine) => {
      const member = recordedMachine(olds, machine);
      const had = member && { ...(olds as DesiredAgent), member };
      const steps = leftToInstall(machine, news, had, reported.get(machine.name));
      return { machine, steps, reason: reported.get(machine.name)?.outOfReach };
    })
    .filter(({ steps }) => steps.length > 0);
  const unreachable = due.filter(({ reason }) => reason !== undefined).map(({ machine }) => machine.name);
  const mayWait = mayBeLeftOut(news, unreachable);
  const work: Work = { steps: [], leftOut: [] };
  for (const { machine, steps, reason } of due) {
    if (reason === undefined || !mayWait(machine)) work.steps.push(...steps);
    else {
      work.leftOut.push(machine.name);
      work.steps.push(leftOutStep({ node: machine.name, reason }));
    }
  }
  return work;
}

/**
 * Returns whether an unreachable machine is not a failure of this resource: one that the configuration tolerates, and
 * every worker, since the rollout after it reports the workers that it leaves out.
 */
function mayBeLeftOut({ machines, unreachable: limit }: Inputs, unreachable: readonly string[]) {
  const { tolerated } = toleratedUnreachable(machines, unreachable, limit);
  return ({ name, role }: Machine) => role === "worker" || tolerated.includes(name);
}

/** The first agent that understands today's annotations, and the first one that knows drift. */
const FIRST_KEPT = { always: "1.1.0", drift: "1.5.0" };

/**
 * Returns the earlier version that the cluster's agents keep until something else changes on them, if any: a new release
 * alone changes nothing.
 */
function keptAgent({ agent }: Partial<Outputs>, { agent: newest, drift }: Inputs): string | undefined {
  if (agent === undefined || compareVersions(agent, newest) >= 0) return undefined;
  const first = drift === undefined ? FIRST_KEPT.always : FIRST_KEPT.drift;
  return compareVersions(agent, first) >= 0 ? agent : undefined;
}

/**
 * Returns the work of a preview, and the version of the agents after it. If the cluster can't be read, it is computed
 * from the state, and the first line says so.
 */
async function preview(olds: Partial<Outputs>, news: Inputs): Promise<Work & { agent: string }> {
  const recorded = news.machines.filter((machine) => recordedMachine(olds, machine)).map(({ name }) => name);
  // an agent that is not installed yet, or does not know its new annotation keys yet, can't report
  const names = olds.annotations === news.annotations ? recorded : [];
  const answer = await readForCheck(nameOf(news), olds, news, async (cluster) => {
    const { readReportedAgents } = await import("./reported-agents.js");
    return readReportedAgents(cluster, news.annotations, names);
  });
  const kept = keptAgent(olds, news);
  const workFor = (agent: string) => ({ ...workOf(olds, { ...news, agent }, answer?.facts), agent });
  const unchanged = kept === undefined ? undefined : workFor(kept);
  const work = unchanged?.steps.length === 0 ? unchanged : workFor(news.agent);
  if (answer?.unread === undefined) return work;
  const what = "what its node agent has installed";
  return { ...work, steps: stepsOfUnread({ why: answer.unread, steps: work.steps, recorded, what }) };
}

/** Kinds of steps that the agent's script carries out. */
const INSTALLED: readonly NodeAgentsStep["kind"][] = [
  "install",
  "follow",
  "stage",
  "restage",
  "unstage",
  "drift",
];

/** Returns the lines of the machines that are left to the next run. */
function linesOfLeftOut({ steps = [] }: Inputs): string[] {
  return steps.filter((text) => nodeAgentsSteps.parse(text)?.kind === "leftOut");
}

/**
 * Returns what to install by machine, as lines. Machines that are left out or could not be read are left to the next
 * run.
 */
function linesByMachine({ steps = [] }: Inputs): Map<string, string[]> {
  const due = new Map<string, string[]>();
  for (const text of steps) {
    const step = nodeAgentsSteps.parse(text);
    const name = step && INSTALLED.includes(step.kind) ? machineOfStep(step) : undefined;
    if (name !== undefined) due.set(name, [...(due.get(name) ?? []), text]);
  }
  return due;
}

/** Installs and stages on all these machines in parallel. A failure on one does not stop the others. */
async function install(inputs: Inputs): Promise<Outputs> {
  const { leftOut = [] } = inputs;
  const { name: cluster } = inputs.specification;
  const resource = nameOf(inputs);
  const machines = backendsOf(inputs.machines);
  for (const line of linesOfLeftOut(inputs)) report(resource, line);
  const lines = linesByMachine(inputs);
  const due = inputs.machines.filter(({ name }) => lines.has(name));
  const failures = await withMachines(resource, inputs, async (session) => {
    const failed = await failuresOfEach(due, "install the node agent", async (machine) => {
      await installAgent(session, machine, inputs, machines);
      session.progress((lines.get(machine.name) ?? []).join("; "));
    });
    const installed = due.filter((machine) => !failed.some((failure) => failure.machine === machine));
    return [...failed, ...(await silentAgents(session, installed))];
  });
  const namesOf = (some: typeof failures) => some.map(({ machine }) => machine.name);
  const silent = failures.filter(({ error }) => error instanceof SshUnreachable);
  const mayWait = mayBeLeftOut(inputs, [...leftOut, ...namesOf(silent)]);
  const unreached = silent.filter(({ machine }) => mayWait(machine));
  const failed = failures.filter((failure) => !unreached.includes(failure));
  for (const { text } of unreached) report(resource, text);
  rememberUnreached(cluster, namesOf(unreached.filter(({ machine }) => machine.role === "worker")));
  const outputs = { ...withoutCredentials(inputs), pending: [...namesOf(failures), ...leftOut].sort() };
  if (failed.length === 0) return outputs;
  const context = { resource, step: `install on ${listed(namesOf(failed))}` };
  throw new PartialFailure(cluster, outputs, context, errorOf(failed));
}

/** Returns whether a machine of the state is no longer configured. */
function hasGone(olds: readonly Machine[], news: readonly Machine[]): boolean {
  return olds.some(({ name }) => !news.some((machine) => machine.name === name));
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: Inputs) {
    const inputs = { ...news, agent: AGENT_VERSION };
    if (!isKnownList(news.machines) || !isKnown(news.specification)) {
      const steps = [nodeAgentsSteps.format({ kind: "unknown", until: "the machines exist" })];
      return { inputs: { ...inputs, steps }, failures: [] };
    }
    const given = withGivenConfiguration(olds, inputs);
    const desired = {
      ...given,
      staged: withConfiguration(news.staged, given.configuration, news.specification),
    };
    const { leftOut, agent, ...work } = await preview(olds, desired);
    const steps = work.steps.map(nodeAgentsSteps.format);
    for (const line of steps) report(nameOf(news), line);
    const isGone = olds.machines && isKnownList(olds.machines) && hasGone(olds.machines, news.machines);
    const recorded = [...(isGone ? (["machines"] as const) : []), "credentials"] as const;
    reportRecorded<Inputs>(nameOf(news), olds, { ...desired, steps }, recorded);
    const reason = refuseStaging(news.specification.source, news.staged);
    return {
      inputs: { ...desired, agent, steps, leftOut },
      failures: reason ? [{ property: "staged", reason }] : [],
    };
  },

  diff(_id, olds: Outputs, news: Inputs) {
    if (!isKnownList(news.machines) || !isKnown(news.specification))
      return Promise.resolve({ changes: true });
    const hasSteps = (news.steps ?? []).length > 0;
    const changes = hasSteps || hasGone(olds.machines, news.machines) || hasRotatedKey(olds, news);
    return Promise.resolve({ changes });
  },

  async create(inputs: Inputs) {
    return { id: inputs.specification.name, outs: await install(inputs) };
  },

  async update(_id, _olds: Outputs, news: Inputs) {
    return { outs: await install(news) };
  },
};
