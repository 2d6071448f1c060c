import { nodeAgentScript } from "../../core/kubeadm/steps/node-agent";
import { refuseStaging, type StagedVersions } from "../../core/node-agent/staged-versions";
import { AGENT_VERSION } from "../../core/node-agent/version";
import { type AgentTold, leftToInstall } from "../../core/node-agent/left-to-install";
import { agentRevision, type AgentWish } from "../../core/node-agent/wish";
import type { Machine } from "../../core/machine";
import { describeFailure, PartialFailure } from "../failure";
import type { Handlers } from "../handler-types";
import { isKnown, isKnownList } from "../unknown";
import { allInParallel } from "./all-in-parallel";
import type { ClusterInputs } from "./inputs";
import { MachinesSession } from "./machines-session";
import { report } from "../report";
import { observationAccess } from "./reader-kubeconfig";

interface Inputs extends ClusterInputs {
  machines: Machine[];
  annotations: string;
  staged: StagedVersions;
  /** Secret; absent in state of older releases. */
  kubeconfig?: string;
  /** Made by check. */
  agent: string;
  steps?: string[];
}

interface Outputs extends Inputs {
  /** Machines that a run did not reach, or whose agent could not be installed. */
  pending: string[];
}

const FROM_RECORD = "from the recorded state";

const nameOf = ({ specification }: Inputs) => `NodeAgents ${specification.name}`;

/** Whether the record has this very machine; a rebuilt one shows another host key. */
function isRecorded(olds: Partial<Outputs>, machine: Machine): boolean {
  if (!olds.machines || !isKnownList(olds.machines)) return false;
  return olds.machines.some(({ name, hostKey }) => name === machine.name && hostKey === machine.hostKey);
}

/** What is left to do on each machine, by the Nodes where they are known and else by the record. */
function stepsByMachine(
  olds: Partial<Outputs>,
  news: Inputs,
  told: ReadonlyMap<string, AgentTold> = new Map(),
): string[] {
  const revision = agentRevision(news);
  return news.machines.flatMap((machine) => {
    const had = isRecorded(olds, machine) ? (olds as AgentWish) : undefined;
    return leftToInstall(machine.name, news, revision, had, told.get(machine.name));
  });
}

/** The steps of a preview; without the cluster they are those of the record, and the first line says so. */
async function preview(olds: Partial<Outputs>, news: Inputs): Promise<string[]> {
  const kubeconfig = observationAccess(isKnown(news.kubeconfig) ? news.kubeconfig : olds.kubeconfig);
  if (kubeconfig === undefined || !isKnown(kubeconfig)) return stepsByMachine(olds, news);
  try {
    const { readSpokenAgents } = await import("./spoken-agents.js");
    // nobody waits for the words of an agent that is yet to be installed, or to learn the annotations it speaks by
    const known = news.machines.filter((machine) => isRecorded(olds, machine)).map(({ name }) => name);
    const names = olds.annotations === news.annotations ? known : [];
    return stepsByMachine(olds, news, await readSpokenAgents(kubeconfig, news.annotations, names));
  } catch (error) {
    const steps = stepsByMachine(olds, news);
    const why = error instanceof Error ? error.message : String(error);
    if (steps.length > 0) return [`${FROM_RECORD}, since the cluster could not be read: ${why}`, ...steps];
    report(nameOf(news), `the cluster could not be read, so nothing is known of its node agents: ${why}`);
    return steps;
  }
}

/** The machines that the steps name, each with its own. */
function machinesOf({ machines, steps = [] }: Inputs): { machine: Machine; steps: string[] }[] {
  return machines
    .map((machine) => ({ machine, steps: steps.filter((step) => step.startsWith(`${machine.name}: `)) }))
    .filter((each) => each.steps.length > 0);
}

/** Installs and stages on all these machines, side by side. One that fails keeps none of the others from it. */
async function install(inputs: Inputs): Promise<Outputs> {
  const session = new MachinesSession(nameOf(inputs), inputs);
  const { annotations, specification, staged, timeouts } = inputs;
  const failures = new Map<string, string>();
  const work = machinesOf(inputs);
  try {
    await allInParallel(work, async ({ machine, steps }) => {
      try {
        const script = nodeAgentScript(specification, machine.name, annotations, staged);
        await session.run(machine, script, { seconds: timeouts.prepare });
        report(session.resource, steps.join("; "));
      } catch (error) {
        const context = { resource: machine.name, step: "install the node agent" };
        failures.set(machine.name, describeFailure(context, error));
      }
    });
  } finally {
    session.close();
  }
  const installed = work.map(({ machine }) => machine.name).filter((name) => !failures.has(name));
  if (installed.length > 0) await hear(inputs, installed);
  const outputs = { ...inputs, pending: [...failures.keys()].sort() };
  if (failures.size === 0) return outputs;
  throw new PartialFailure(
    specification.name,
    outputs,
    { resource: session.resource, step: `install on ${outputs.pending.join(", ")}` },
    new Error([...failures.values()].sort().join("\n")),
  );
}

/** What the agents say is what the next preview goes by. */
async function hear(inputs: Inputs, names: string[]): Promise<void> {
  if (inputs.kubeconfig === undefined) return;
  const { untilAgentsSpeak } = await import("./spoken-agents.js");
  const { kubeconfig, annotations } = inputs;
  const silent = await untilAgentsSpeak(kubeconfig, annotations, names, agentRevision(inputs));
  if (silent.length > 0) report(nameOf(inputs), `not heard of yet: the node agents of ${silent.join(", ")}`);
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: Inputs) {
    const inputs = { ...news, agent: AGENT_VERSION };
    if (!isKnownList(news.machines) || !isKnown(news.specification))
      return { inputs: { ...inputs, steps: ["unknown until the machines exist"] }, failures: [] };
    const steps = await preview(olds, inputs);
    const reason = refuseStaging(news.specification.source, news.staged);
    return { inputs: { ...inputs, steps }, failures: reason ? [{ property: "staged", reason }] : [] };
  },

  diff(_id, olds: Outputs, news: Inputs) {
    if (!isKnownList(news.machines) || !isKnown(news.specification))
      return Promise.resolve({ changes: true });
    const gone = olds.machines.some(({ name }) => !news.machines.some((machine) => machine.name === name));
    return Promise.resolve({ changes: (news.steps ?? []).length > 0 || gone });
  },

  async create(inputs: Inputs) {
    return { id: inputs.specification.name, outs: await install(inputs) };
  },

  async update(_id, _olds: Outputs, news: Inputs) {
    return { outs: await install(news) };
  },
};
