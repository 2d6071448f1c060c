import { isDeepStrictEqual } from "node:util";
import { initConfiguration } from "../../machine/configuration/configuration";
import { refuseSpecificationChange } from "../../plan/configuration/immutables";
import { machineFactsScript, parseMachineFacts } from "../../machine/facts/facts-script";
import { initScript, resetScript } from "../../machine/steps";
import { adoptedChange, adoptedConfiguration } from "../../plan/adoption/adopted-configuration";
import { type ConfigurationChange, configurationChange } from "../../plan/configuration/configuration";
import { rolledConfiguration } from "../../plan/configuration/rolled-configuration";
import { writtenParts } from "../../plan/configuration/configuration-record";
import { keyGeneration, keyName } from "../../plan/encryption/encryption";
import { controlPlanesOf } from "../../plan/cluster/machine";
import { clusterAdoptionSteps, refuseAdoptChange } from "../../plan/adoption/adoption";
import { clusterInitSteps, type ClusterInitStep } from "../../plan/steps";
import { formerMachines } from "../../plan/membership/nodes";
import { explained, PartialFailure } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { isKnown, isKnownList } from "../../../../lib/unknown";
import { failuresOfEach, type MachinesSession, withMachines } from "../session/machines-session";
import { ownerOf } from "../facts/ownership";
import { assertGivesBackOwn, ownSteps, recordOwner, unnamedMachines } from "./cluster-owner";
import { begunDifferences } from "../../plan/facts/begun-cluster";
import { initStep } from "../../plan/facts/components";
import { componentsOn, readMachineFacts } from "../facts/reading";
import { rememberGivenBack } from "./given-back";
import { unnamedOwner } from "../../plan/facts/ownership";
import { assertClock, readReportedFacts, rebootIfRequired } from "./rebooting";
import { report, reportRecorded } from "../../../../lib/pulumi/log";
import { rememberWrites } from "../configuration/configuration-record";
import { rememberAccess } from "../session/preview-reading";
import type { ClusterInitInputs as Inputs, ClusterInitOutputs as Outputs } from "../declarations";
import { messageOf } from "../../../../lib/error-message";
import { listed } from "../../../../lib/text/quote";
import { formatPath } from "../../../../lib/validation/validation-issue";

const RESET_SECONDS = 300;
/** How long a machine may take to answer the inspection of a check. */
const INSPECT_SECONDS = 20;

const nameOf = ({ specification }: Inputs) => `ClusterInit ${specification.name}`;

const pluginsOf = (olds: Partial<Inputs>, news: Inputs) => ({
  olds: olds.networkPlugin,
  news: news.networkPlugin,
});

/** Returns the control planes that are members already, and the facts of the first. An unreachable one is an error, since it could be a member. */
async function membersAmong(session: MachinesSession, controlPlanes: Inputs["machines"]) {
  const facts = await Promise.all(controlPlanes.map((machine) => readReportedFacts(session, machine)));
  const unnamed = controlPlanes
    .filter((_, index) => facts[index]?.unnamed)
    .map(({ name }) => unnamedOwner(name));
  if (unnamed.length > 0 && ownerOf(session.inputs)) throw new Error(unnamed.join("\n"));
  const members = controlPlanes.filter((_, index) => facts[index]?.member && facts[index].controlPlane);
  return { members: members.map(({ name }) => name), first: facts[0] };
}

/** Returns why these control planes are of a cluster that an interrupted run made with other settings than the configured ones. */
async function begunIssues(inputs: Inputs) {
  const planes = controlPlanesOf(inputs.machines);
  const facts = await readMachineFacts(inputs, planes);
  return planes.flatMap((machine) =>
    begunDifferences(machine, facts.get(machine.name), inputs.specification),
  );
}

/** Returns the machines; a preview that does not know them yet has none. */
const placed = ({ machines }: Inputs) => (Array.isArray(machines) ? machines : []);

/** Returns the step that makes the cluster. */
const firstStep = ({ specification }: Inputs, first: string | undefined): ClusterInitStep =>
  initStep(
    specification,
    first,
    first && isKnown(specification) ? componentsOn(specification.name, first) : undefined,
  );

/** Runs kubeadm init on the first control plane, unless one is a member already. */
async function initialize(session: MachinesSession<Inputs>): Promise<void> {
  const { inputs, progress } = session;
  const { specification, timeouts } = inputs;
  const controlPlanes = controlPlanesOf(inputs.machines);
  const { members, first: facts } = await membersAmong(session, controlPlanes);
  if (members.length > 0) {
    const found = await Promise.all(
      controlPlanes
        .filter(({ name }) => members.includes(name))
        .map(async (machine) => {
          const said = parseMachineFacts(await session.run(machine, machineFactsScript));
          return begunDifferences(machine, said, specification);
        }),
    );
    const [issue] = found.flat();
    if (issue) throw new Error(`${issue.property} ${issue.reason}`);
    progress(`the cluster exists: ${members.join(", ")} ${members.length > 1 ? "are" : "is"} a member`);
    return;
  }
  const [first] = controlPlanes;
  if (!first || !facts) throw new Error("there is no control plane among the machines");
  assertClock(first, facts);
  await rebootIfRequired(session, first, facts);
  const key = specification.encryptSecretsAtRest ? keyName(keyGeneration(specification)) : "";
  const script = initScript(specification, first.name, key);
  const data = initConfiguration(specification, first, controlPlanes);
  const started = Date.now();
  await session.run(first, script, { seconds: timeouts.init, data });
  progress(`kubeadm init on ${first.name} took ${Math.round((Date.now() - started) / 1000)} s`);
}

/**
 * Resets every machine that still answers. Destroy succeeds even when some machines are gone, and reports them.
 */
async function resetAll(session: MachinesSession<Outputs>): Promise<void> {
  const { inputs, progress } = session;
  const { machines, provided } = inputs;
  // those that the stack made are deleted when they leave, and their addresses may be others' by now
  const former = provided ? [] : (inputs.former ?? []);
  await assertGivesBackOwn(inputs);
  rememberGivenBack(session.cluster, [...machines, ...former]);
  const failures = await failuresOfEach([...machines, ...former], "kubeadm reset", async (machine) => {
    await session.run(machine, resetScript, { seconds: RESET_SECONDS });
  });
  const failed = failures.filter(({ machine }) => !former.includes(machine));
  for (const { machine, error, text } of failures) {
    const why = messageOf(error);
    const left = `${machine.name} left earlier and could not be asked whether it is reset: ${why}`;
    progress(former.includes(machine) ? left : text);
  }
  const names = failed.map(({ machine }) => machine.name).join(", ");
  if (names !== "") progress(`not reset: ${names}; run "kubeadm reset" there if these machines still exist`);
}

/** Releases every machine of an adopted cluster. */
async function release(session: MachinesSession<Outputs>, annotations: string): Promise<void> {
  const { machines, former = [] } = session.inputs;
  await assertGivesBackOwn(session.inputs);
  const { releaseAll } = await import("../adoption/release.js");
  rememberGivenBack(session.cluster, [...machines, ...former]);
  await releaseAll(session, annotations);
}

/** Inputs that destroy needs in order to reset the current machines with the current credentials. */
const RECORDED = ["specification", "machines", "jumpHost", "credentials", "adopt", "owner"] as const;

/**
 * Previews the adoption of a cluster: inspects its machines over SSH, which writes nothing on them. If they can't be
 * reached, the steps come from the configuration, and the run inspects them before it writes anything.
 */
async function previewAdoption(news: Inputs) {
  const adopted = news.machines.map(({ name }) => name);
  const { inspectForAdoption, failuresOf } = await import("../adoption/adoption.js");
  const reachable = { ...news, timeouts: { ...news.timeouts, ssh: INSPECT_SECONDS } };
  try {
    const inspection = await withMachines(nameOf(news), reachable, inspectForAdoption);
    if (inspection.kubeconfig !== undefined && inspection.issues.length === 0)
      rememberAccess(news.specification.name, inspection.kubeconfig);
    const steps = clusterAdoptionSteps(news.machines, inspection.cluster).map(clusterInitSteps.format);
    return { adopted, steps, failures: failuresOf(inspection.issues) };
  } catch (error) {
    report(
      nameOf(news),
      `the machines could not be inspected, the run does it before it writes: ${messageOf(error)}`,
    );
    return { adopted, steps: clusterAdoptionSteps(news.machines).map(clusterInitSteps.format), failures: [] };
  }
}

/** Checks a stack with `adopt`. Machines that are added later join, so they are not among the adopted ones. */
async function checkAdoption(olds: Partial<Inputs>, news: Inputs) {
  if (olds.specification !== undefined)
    return checkAdopted({ ...olds, specification: olds.specification }, news);
  // the identity of a new stack is made by the run
  const { owner: _, ...given } = news;
  if (!isKnown(given)) {
    const steps = [clusterInitSteps.format({ kind: "unknown", until: "the machines exist" })];
    return { inputs: { ...news, steps }, failures: [] };
  }
  const { adopted, steps, failures } = await previewAdoption(news);
  for (const line of steps) report(nameOf(news), line);
  return { inputs: { ...news, adopted, steps }, failures };
}

/** Checks a cluster that is adopted. A change of its configuration inspects its machines, which writes nothing on them. */
async function checkAdopted(olds: Partial<Inputs> & Pick<Inputs, "specification">, news: Inputs) {
  const { machines, specification } = news;
  const isConfigured = (name: string) =>
    !isKnownList(machines) || machines.some((machine) => machine.name === name);
  const adopted = (olds.adopted ?? []).filter(isConfigured);
  const kept = [...ownSteps(olds, news), ...keptCredentials(olds, news)];
  // a field that is unknown until the run is checked by the run
  if (typeof specification !== "object") {
    const { configuration } = olds;
    return {
      inputs: { ...news, adopted, ...(configuration && { configuration }), steps: kept },
      failures: [],
    };
  }
  const configuration = adoptedConfiguration(olds, specification, placed(news));
  const change = adoptedChange(olds, specification);
  rememberWrites(specification.name, writtenParts(change));
  const steps = [...(change ? configurationSteps(change) : []), ...kept];
  const inputs = { ...news, adopted, ...(configuration && { configuration }), steps };
  reportRecorded(nameOf(news), olds, inputs, RECORDED);
  const { failuresOf } = await import("../adoption/adoption.js");
  const failures = refuseSpecificationChange(olds.specification, specification, pluginsOf(olds, news));
  if (!change || failures.length > 0 || !isKnownList(machines)) return { inputs, failures };
  const issues = await previewedSettingIssues(olds, inputs);
  if (issues.length > 0 || change.endpoint === undefined) return { inputs, failures: failuresOf(issues) };
  return withMove(olds, inputs);
}

/** Returns why a changed configuration is refused, as far as the machines could be asked; the run asks them again. */
async function previewedSettingIssues(olds: Pick<Inputs, "specification" | "configuration">, news: Inputs) {
  const { settingIssuesOf } = await import("../adoption/adopted-configuration.js");
  const reachable = { ...news, timeouts: { ...news.timeouts, ssh: INSPECT_SECONDS } };
  return withMachines(nameOf(news), reachable, (session) => settingIssuesOf(session, olds)).catch(
    (error: unknown) => {
      report(
        nameOf(news),
        `the machines could not be inspected, the run does it before it writes: ${messageOf(error)}`,
      );
      return [];
    },
  );
}

/** Returns inputs with the step of a changed endpoint, and why the cluster can't move to it. Reads the machines over SSH. */
async function withMove(olds: Partial<Inputs>, news: Inputs) {
  const { specification, machines = [] } = olds;
  if (!specification) return { inputs: news, failures: [] };
  const { previewMove } = await import("../endpoint/moved-endpoint.js");
  const reachable = {
    ...news,
    timeouts: { ...news.timeouts, ssh: Math.min(news.timeouts.ssh, INSPECT_SECONDS) },
  };
  const { issues, step } = await previewMove(nameOf(news), { specification, machines }, reachable);
  const [first = "", ...others] = news.steps ?? [];
  const { failuresOf } = await import("../adoption/adoption.js");
  const steps = [first, clusterInitSteps.format(step), ...others];
  return { inputs: { ...news, steps }, failures: failuresOf(issues) };
}

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

/** Returns the lines of a changed configuration; each node gets it from its rollout. */
function configurationSteps(change: ConfigurationChange): string[] {
  const paths = listed(change.paths.map((path) => formatPath(["cluster", ...path])));
  const steps: ClusterInitStep[] = [
    { kind: "configuration", paths },
    ...(change.upload ? [{ kind: "upload" } as const] : []),
    ...(change.kubeProxy ? [{ kind: "kubeProxy" } as const] : []),
  ];
  return steps.map(clusterInitSteps.format);
}

/**
 * Writes a changed configuration into kubeadm's ConfigMaps through a control plane that is ready, before any node joins or
 * changes.
 */
async function configureCluster(olds: Outputs, inputs: Inputs): Promise<void> {
  const { specification, configuration } = inputs;
  const isAdopted = inputs.adopt !== undefined;
  const change = isAdopted
    ? adoptedChange(olds, specification)
    : configurationChange(olds.specification, specification);
  const parts = writtenParts(change);
  if (!change || (parts.length === 0 && !isAdopted)) return;
  const resource = nameOf(inputs);
  const { writeConfiguration } = await import("../configuration/cluster-configuration.js");
  const { assertMovable } = await import("../endpoint/moved-endpoint.js");
  const { assertMergeable } = await import("../adoption/adopted-configuration.js");
  await explained({ resource, step: "write the cluster's configuration" }, () =>
    withMachines(resource, inputs, async (session) => {
      if (change.endpoint) await assertMovable(session, olds);
      if (isAdopted) await assertMergeable(session, olds);
      await writeConfiguration(session, parts, {
        olds: olds.specification,
        isAdopted,
        formerEndpoints: configuration?.formerEndpoints,
      });
    }),
  );
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    const foreign = await unnamedMachines(olds, news);
    if (foreign.length > 0) return { inputs: news, failures: foreign };
    const wasAdopted = olds.specification && olds.adopt !== undefined;
    const reason = refuseAdoptChange(wasAdopted, news.adopt !== undefined);
    if (reason !== undefined) return { inputs: news, failures: [{ property: "cluster.adopt", reason }] };
    if (news.adopt) return checkAdoption(olds, news);
    // a field that is unknown until the run is checked by the run
    const known = typeof news.specification === "object";
    const refused = known
      ? refuseSpecificationChange(olds.specification, news.specification, pluginsOf(olds, news))
      : [];
    const first = isKnownList(news.machines) ? controlPlanesOf(news.machines)[0]?.name : undefined;
    const change =
      known && olds.specification ? configurationChange(olds.specification, news.specification) : undefined;
    if (known && olds.specification) rememberWrites(news.specification.name, writtenParts(change));
    const steps =
      olds.specification !== undefined
        ? [
            ...ownSteps(olds, news),
            ...(change ? configurationSteps(change) : []),
            ...keptCredentials(olds, news),
          ]
        : [clusterInitSteps.format(firstStep(news, first))];
    const { initialKeyGeneration = known && !olds.specification ? keyGeneration(news.specification) : 1 } =
      olds;
    const configuration = known
      ? rolledConfiguration(olds, news.specification, placed(news))
      : olds.configuration;
    const inputs = {
      ...news,
      ...(initialKeyGeneration > 1 ? { initialKeyGeneration } : {}),
      ...(configuration ? { configuration } : {}),
      steps,
    };
    if (olds.specification === undefined) for (const line of steps) report(nameOf(news), line);
    if (known) reportRecorded(nameOf(news), olds, inputs, RECORDED);
    // the state of a run that was killed has the machines, and no cluster
    if (known && olds.specification === undefined && isKnownList(news.machines))
      return { inputs, failures: await begunIssues(news) };
    return refused.length > 0 || change?.endpoint === undefined
      ? { inputs, failures: refused }
      : withMove(olds, inputs);
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const recorded = RECORDED.filter((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes: recorded.length > 0 || (news.steps ?? []).length > 0 });
  },

  create: (inputs: Inputs) => {
    const resource = nameOf(inputs);
    if (inputs.adopt)
      return explained({ resource, step: "adopt the cluster" }, async () => {
        const { adoptCluster } = await import("../adoption/adoption.js");
        await withMachines(resource, inputs, adoptCluster);
        return { id: inputs.specification.name, outs: inputs };
      });
    // the marker identifies what kubeadm left, so a failed create can simply be repeated
    return explained({ resource, step: "kubeadm init" }, async () => {
      await withMachines(resource, inputs, initialize);
      return { id: inputs.specification.name, outs: inputs };
    });
  },

  async update(_id, olds: Outputs, news: Inputs) {
    await recordOwner(news);
    await configureCluster(olds, news);
    return { outs: { ...news, former: news.provided ? [] : formerMachines(olds, news.machines) } };
  },

  async delete(id, inputs: Outputs) {
    const resource = nameOf(inputs);
    const reachable = { ...inputs, timeouts: { ...inputs.timeouts, ssh: 30 } };
    const { adopt } = inputs;
    const [step, work] =
      adopt === undefined || adopt.reset
        ? ["kubeadm reset", resetAll]
        : ["release the cluster", (session: MachinesSession<Outputs>) => release(session, adopt.annotations)];
    await withMachines(resource, reachable, work).catch((error: unknown) => {
      throw new PartialFailure(id, inputs, { resource, step }, error);
    });
  },
};
