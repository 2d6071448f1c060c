import { nodeAgentScript } from "../../core/kubeadm/steps/node-agent";
import { refuseStaging, type StagedVersions } from "../../core/node-agent/staged-versions";
import { AGENT_VERSION } from "../../core/node-agent/version";
import { describeAgentChange, type AgentWish } from "../../core/node-agent/wish";
import type { Machine } from "../../core/machine";
import { describeFailure, PartialFailure } from "../failure";
import type { Handlers } from "../handler-types";
import { isKnown, isKnownList } from "../unknown";
import { allInParallel } from "./all-in-parallel";
import type { ClusterInputs } from "./inputs";
import { MachinesSession, report } from "./machines-session";

interface Inputs extends ClusterInputs {
  machines: Machine[];
  annotations: string;
  staged: StagedVersions;
  /** Made by check. */
  agent: string;
  steps?: string[];
}

interface Outputs extends Inputs {
  /** Machines that a run did not reach, or whose agent could not be installed. */
  pending: string[];
}

const nameOf = ({ specification }: Inputs) => `NodeAgents ${specification.name}`;

/** Whether the record says that this very machine has what the old wish names; a rebuilt one shows another host key. */
function isDone(olds: Partial<Outputs>, machine: Machine): boolean {
  if (!olds.machines || !isKnownList(olds.machines) || olds.pending?.includes(machine.name)) return false;
  return olds.machines.some(({ name, hostKey }) => name === machine.name && hostKey === machine.hostKey);
}

/** What is left to do on each machine; machines with nothing to do are not in it. */
function stepsByMachine(olds: Partial<Outputs>, news: Inputs): Map<string, string[]> {
  const entries = news.machines.map((machine): [string, string[]] => {
    const had = isDone(olds, machine) ? (olds as AgentWish) : undefined;
    return [machine.name, describeAgentChange(machine.name, had, news)];
  });
  return new Map(entries.filter(([, steps]) => steps.length > 0));
}

/** Installs and stages on all these machines, side by side. One that fails keeps none of the others from it. */
async function install(inputs: Inputs, steps: Map<string, string[]>): Promise<Outputs> {
  const session = new MachinesSession(nameOf(inputs), inputs);
  const { annotations, specification, staged, timeouts } = inputs;
  const failures = new Map<string, string>();
  const machines = inputs.machines.filter(({ name }) => steps.has(name));
  try {
    await allInParallel(machines, async (machine) => {
      try {
        const script = nodeAgentScript(specification, machine.name, annotations, staged);
        await session.run(machine, script, { seconds: timeouts.prepare });
        report(session.resource, (steps.get(machine.name) ?? []).join("; "));
      } catch (error) {
        const context = { resource: machine.name, step: "install the node agent" };
        failures.set(machine.name, describeFailure(context, error));
      }
    });
  } finally {
    session.close();
  }
  const outputs = { ...inputs, pending: [...failures.keys()].sort() };
  if (failures.size === 0) return outputs;
  throw new PartialFailure(
    specification.name,
    outputs,
    { resource: session.resource, step: `install on ${outputs.pending.join(", ")}` },
    new Error([...failures.values()].sort().join("\n")),
  );
}

export const handlers: Handlers = {
  check(olds: Partial<Outputs>, news: Inputs) {
    const inputs = { ...news, agent: AGENT_VERSION };
    if (!isKnownList(news.machines) || !isKnown(news.specification))
      return Promise.resolve({
        inputs: { ...inputs, steps: ["unknown until the machines exist"] },
        failures: [],
      });
    const steps = [...stepsByMachine(olds, inputs).values()].flat();
    const reason = refuseStaging(news.specification.source, news.staged);
    return Promise.resolve({
      inputs: { ...inputs, steps },
      failures: reason ? [{ property: "staged", reason }] : [],
    });
  },

  diff(_id, olds: Outputs, news: Inputs) {
    if (!isKnownList(news.machines) || !isKnown(news.specification))
      return Promise.resolve({ changes: true });
    const steps = stepsByMachine(olds, news);
    // the engine compares a failed run's inputs, so check can't know of the machines that it left out
    for (const name of olds.pending ?? [])
      for (const step of steps.get(name) ?? []) report(nameOf(news), `left from the last run: ${step}`);
    const gone = olds.machines.some(({ name }) => !news.machines.some((machine) => machine.name === name));
    return Promise.resolve({ changes: steps.size > 0 || gone });
  },

  async create(inputs: Inputs) {
    return { id: inputs.specification.name, outs: await install(inputs, stepsByMachine({}, inputs)) };
  },

  async update(_id, olds: Outputs, news: Inputs) {
    return { outs: await install(news, stepsByMachine(olds, news)) };
  },
};
