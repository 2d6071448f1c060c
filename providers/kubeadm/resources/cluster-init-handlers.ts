import { isDeepStrictEqual } from "node:util";
import { initConfiguration } from "../machine/configuration";
import { refuseSpecificationChange } from "../plan/immutables";
import { type MachineFacts, factsScript, initScript, resetScript } from "../machine/steps";
import type { ClusterSpecification } from "../plan/specification";
import type { Machine } from "../plan/machine";
import { clusterInitSteps } from "../plan/steps";
import { formerMachines } from "../plan/membership/nodes";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { isKnownList } from "../../../lib/unknown";
import { allInParallel, MachinesSession } from "./machines-session";
import { report, reportRecorded } from "../../../lib/pulumi/log";
import type { ClusterInitInputs as Inputs, ClusterInitOutputs as Outputs } from "./cluster-init";

const FACTS_SECONDS = 60;
const RESET_SECONDS = 300;

const nameOf = (inputs: { specification: ClusterSpecification }) =>
  `ClusterInit ${inputs.specification.name}`;
const controlPlanesOf = (inputs: Inputs) => inputs.machines.filter(({ role }) => role === "control-plane");

/** Returns the control planes that are members already. An unreachable one is an error, since it could be a member. */
async function memberAmong(
  session: MachinesSession,
  cluster: string,
  controlPlanes: Machine[],
): Promise<string[]> {
  const facts = await Promise.all(
    controlPlanes.map(async (machine) => {
      const answer = await session.run(machine, factsScript(cluster, machine.name), {
        seconds: FACTS_SECONDS,
      });
      return { machine: machine.name, ...(JSON.parse(answer) as MachineFacts) };
    }),
  );
  return facts.filter(({ member, controlPlane }) => member && controlPlane).map(({ machine }) => machine);
}

/** Runs kubeadm init on the first control plane, unless one is a member already. */
async function initialise(session: MachinesSession, inputs: Inputs): Promise<void> {
  const { specification, timeouts } = inputs;
  const controlPlanes = controlPlanesOf(inputs);
  const members = await memberAmong(session, specification.name, controlPlanes);
  if (members.length > 0) {
    report(
      session.resource,
      `the cluster exists: ${members.join(", ")} ${members.length > 1 ? "are" : "is"} a member`,
    );
    return;
  }
  const [first] = controlPlanes;
  if (!first) throw new Error("there is no control plane among the machines");
  const script = initScript(specification.name, first.name, specification.encryptSecretsAtRest);
  const data = initConfiguration(specification, first, controlPlanes);
  const started = Date.now();
  await session.run(first, script, { seconds: timeouts.init, data });
  report(
    session.resource,
    `kubeadm init on ${first.name} took ${Math.round((Date.now() - started) / 1000)} s`,
  );
}

/**
 * Resets every machine that still answers. Destroy succeeds even when some machines are gone, and reports them.
 */
async function resetAll(session: MachinesSession, inputs: Outputs): Promise<void> {
  const failed: string[] = [];
  const former = inputs.former ?? [];
  await allInParallel([...inputs.machines, ...former], async (machine) => {
    try {
      await session.run(machine, resetScript(inputs.specification.name, machine.name), {
        seconds: RESET_SECONDS,
      });
    } catch (error) {
      if (former.includes(machine)) {
        const why = error instanceof Error ? error.message : String(error);
        report(
          session.resource,
          `${machine.name} left earlier and could not be asked whether it is reset: ${why}`,
        );
        return;
      }
      failed.push(machine.name);
      report(session.resource, describeFailure({ resource: machine.name, step: "kubeadm reset" }, error));
    }
  });
  if (failed.length > 0)
    report(
      session.resource,
      `not reset: ${failed.sort().join(", ")}; run "kubeadm reset" there if these machines still exist`,
    );
}

/** Inputs that destroy needs in order to reset the current machines with the current credentials. */
const RECORDED = ["specification", "machines", "jumpHost", "credentials"] as const;

/**
 * Returns a note for each machine that keeps its registry credentials: they are written when a machine is prepared.
 * State of older releases has none to compare with.
 */
function keptCredentials(olds: Partial<Inputs>, news: Inputs): string[] {
  const before = olds.registryCredentials;
  if (before === undefined || isDeepStrictEqual(before, news.registryCredentials ?? {})) return [];
  return (olds.machines ?? []).map(({ name: machine }) =>
    clusterInitSteps.format({ kind: "keepCredentials", machine }),
  );
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    // a field that is unknown until the run is checked by the run
    const known = typeof news.specification === "object";
    const failures = known ? refuseSpecificationChange(olds.specification, news.specification) : [];
    const first = isKnownList(news.machines) ? controlPlanesOf(news)[0]?.name : undefined;
    const steps =
      olds.specification !== undefined
        ? keptCredentials(olds, news)
        : [clusterInitSteps.format({ kind: "init", machine: first ?? "the first control plane" })];
    const inputs = { ...news, steps };
    if (known) reportRecorded(nameOf(news), olds, inputs, RECORDED);
    return Promise.resolve({ inputs, failures });
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const recorded = RECORDED.filter((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes: recorded.length > 0 || (news.steps ?? []).length > 0 });
  },

  async create(inputs: Inputs) {
    const id = inputs.specification.name;
    const session = new MachinesSession(nameOf(inputs), inputs);
    try {
      await initialise(session, inputs);
      return { id, outs: inputs };
    } catch (error) {
      // the marker identifies what kubeadm left, so a failed create can simply be repeated
      throw new Error(describeFailure({ resource: session.resource, step: "kubeadm init" }, error), {
        cause: error,
      });
    } finally {
      session.close();
    }
  },

  update: (_id, olds: Outputs, news: Inputs) =>
    Promise.resolve({ outs: { ...news, former: formerMachines(olds, news.machines) } }),

  async delete(id, inputs: Outputs) {
    const session = new MachinesSession(nameOf(inputs), {
      ...inputs,
      timeouts: { ...inputs.timeouts, ssh: 30 },
    });
    try {
      await resetAll(session, inputs);
    } catch (error) {
      throw new PartialFailure(id, inputs, { resource: session.resource, step: "kubeadm reset" }, error);
    } finally {
      session.close();
    }
  },
};
