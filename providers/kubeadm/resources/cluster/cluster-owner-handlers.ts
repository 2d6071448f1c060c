import { isDeepStrictEqual } from "node:util";
import { isStackId, type Owner } from "../../../../lib/ownership/owner";
import { explained } from "../../../../lib/pulumi/failure";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { report, reportRecorded } from "../../../../lib/pulumi/log";
import { isKnown, isKnownList } from "../../../../lib/unknown";
import { releaseScript } from "../../machine/adoption/adoption-steps";
import { ownScript, resetScript } from "../../machine/steps";
import {
  becomesWorker,
  decideMachines,
  formerOf,
  giveBack,
  isControlPlane,
  isRecorded,
  type RecordedMachine,
} from "../../plan/facts/ownership";
import { recordedLost } from "../../plan/membership/lost";
import { type ClusterOwnerStep, clusterOwnerSteps } from "../../plan/steps";
import type { ClusterOwnerInputs as Inputs } from "../declarations";
import {
  readMachineFacts,
  rememberAddresses,
  rememberComponents,
  rememberListed,
  rememberRead,
} from "../facts/reading";
import { wasGivenBack } from "./given-back";
import { errorOf, failuresOfEach, withMachines } from "../session/machines-session";
import { rememberOwner, selfOf } from "../facts/ownership";

/** Everything that a delete needs, and how the machines are reached for it. */
const RECORDED = [
  ...(["owner", "machines", "former", "jumpHost", "credentials", "lost", "takeOver"] as const),
  ...(["adopts", "provided"] as const),
];
const RESET_SECONDS = 300;
/** A working node agent keeps the machine's lock; a release waits for it. */
const RELEASE_SECONDS = 1500;
const IDENTITY = "foresail-identity";

const nameOf = ({ specification }: Pick<Inputs, "specification">) => `ClusterOwner ${specification.name}`;

/** Returns why the stack's identity is refused. @param before of the state */
function identityIssue(before: Owner | undefined, { owner, takeOver }: Inputs): string | undefined {
  if (before === undefined || owner.id === before.id || takeOver === before.id) return undefined;
  return (
    `the identity of this stack was ${before.id}, and ${isKnown(owner) ? `is ${owner.id}` : "would be another one"}: its resource ${IDENTITY} is replaced or was deleted from the state. ` +
    `Put it back, or write cluster.takeOver: ${before.id}`
  );
}

/** Returns the inputs with the identity of the state if this run leaves it out, and why there is none. */
function withIdentity(olds: Partial<Inputs>, news: Inputs): { inputs: Inputs; issue?: string } {
  // "" is what the program reads of a resource that `--target` leaves out
  const isLeftOut = news.owner.id === "" || (isKnown(news.owner) && !isStackId(news.owner.id));
  if (!isLeftOut) {
    const issue = identityIssue(olds.owner, news);
    return { inputs: news, ...(issue === undefined ? {} : { issue }) };
  }
  if (olds.owner) return { inputs: { ...news, owner: olds.owner } };
  const issue = `the stack has no identity yet, and this run leaves out its resource ${IDENTITY}; run \`up\` once without --target`;
  return { inputs: news, issue };
}

/**
 * Returns the machines that a check has to read: those that the state does not have as they are, or as control planes, or all at
 * a take-over.
 */
function machinesToRead(olds: Partial<Inputs>, { machines, takeOver, provided }: Inputs): RecordedMachine[] {
  // the stack has just made them
  if (provided === true || !isKnownList(machines)) return [];
  if (takeOver !== undefined && takeOver !== olds.takeOver) return machines;
  const { machines: recorded = [] } = olds;
  return machines.filter((machine) => !isRecorded(recorded, machine) || becomesWorker(recorded, machine));
}

/**
 * Reads machines that are new to the state before anything is recorded or written, and returns why they can't become nodes,
 * and what their preparation changes. Those that the stack makes are read when they exist.
 */
async function examineNew(olds: Partial<Inputs>, news: Inputs): Promise<FoundNew> {
  const { machines, desired, provided, specification } = news;
  rememberListed(specification.name, []);
  if (desired === undefined) return NOTHING_FOUND;
  const later: FoundNew = { issues: [], steps: [{ kind: "unknown", until: "the machines exist" }] };
  if (!isKnownList(machines)) return later;
  if (isKnown([desired.internalAddresses])) rememberAddresses(specification.name, desired.internalAddresses);
  const due = machines.filter((machine) => !isRecorded(olds.machines ?? [], machine));
  if (due.length === 0) return NOTHING_FOUND;
  if (!isKnown([desired])) return later;
  const { examine, noteLines } = await import("../facts/examination.js");
  const controlPlanes = machines.filter(isControlPlane).map(({ name }) => name);
  const { credentialsSum } = news;
  const options = { mayPass: provided === true, controlPlanes, credentialsSum };
  const found = await examine(news, due, desired, options);
  for (const line of noteLines(found)) report(nameOf({ specification }), line);
  rememberComponents(specification.name, found.components);
  // a machine with another address keeps its preparation
  const isNew = (machine: string) => !(olds.machines ?? []).some(({ name }) => name === machine);
  rememberListed(
    specification.name,
    due.filter(({ name }) => isNew(name)),
  );
  const unread = found.unread.map(({ machine }) => machine).filter(isNew);
  const steps: ClusterOwnerStep[] = [
    ...found.preparation.filter(({ machine }) => isNew(machine)),
    ...(unread.length > 0
      ? [{ kind: "unknown", until: "the machines answer", wanted: unread } as const]
      : []),
  ];
  const at = (name: string) => machines.findIndex((machine) => machine.name === name);
  const issues = found.findings.flatMap(({ level, machine, sentence }) =>
    level === "refused" ? [{ property: `cluster.machines[${at(machine)}]`, reason: sentence }] : [],
  );
  return { issues, steps };
}

/** What an examination of new machines has found. */
interface FoundNew {
  readonly issues: { property: string; reason: string }[];
  readonly steps: ClusterOwnerStep[];
}
const NOTHING_FOUND: FoundNew = { issues: [], steps: [] };

/** Records the stack on the machines that it takes over. May be repeated. */
async function takeOver(inputs: Inputs): Promise<void> {
  const names = (inputs.steps ?? []).flatMap((text) => {
    const step = clusterOwnerSteps.parse(text);
    return step?.kind === "takeOver" ? [step.machine] : [];
  });
  const machines = inputs.machines.filter(({ name }) => names.includes(name));
  if (machines.length === 0) return;
  const resource = nameOf(inputs);
  await explained({ resource, step: `take over ${names.join(", ")}` }, () =>
    withMachines(resource, inputs, async (session) => {
      const failures = await failuresOfEach(machines, "take over", async (machine) => {
        await session.run(machine, ownScript, { former: inputs.takeOver });
        session.progress(`${machine.name} is taken over`);
      });
      if (failures.length > 0) throw errorOf(failures);
    }),
  );
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    const { inputs: given, issue } = withIdentity(olds, news);
    const { name: cluster } = given.specification;
    if (issue !== undefined) return { inputs: given, failures: [{ property: "cluster", reason: issue }] };
    if (isKnown(given.owner)) rememberOwner(cluster, given.owner);
    const { machines, lost, provided } = given;
    const due = machinesToRead(olds, given);
    const { issues, steps: prepares } = await examineNew(olds, given);
    // those that left are asked again when something else is read, so that a preview without changes reads nothing
    const left = due.length > 0 ? formerOf(olds, machines, { lost, facts: new Map() }) : [];
    const facts = await readMachineFacts(given, [...due, ...left]);
    const { failures, steps, unnamed } = decideMachines(selfOf(given, given.takeOver), {
      cluster,
      machines,
      facts,
      isNew: olds.machines === undefined,
      recorded: provided ? undefined : olds.machines,
    });
    // nothing else asks servers that the stack makes
    const asked = provided && isKnownList(machines) ? machines : due;
    rememberRead(cluster, { names: asked.map(({ name }) => name), unnamed });
    const former = provided || !isKnownList(machines) ? [] : formerOf(olds, machines, { lost, facts });
    const { credentialsSum: _onlyRead, ...kept } = given;
    const inputs = {
      ...kept,
      // an absent output is unknown in a preview
      former,
      steps: [...steps, ...prepares].map(clusterOwnerSteps.format),
    };
    for (const step of inputs.steps) report(nameOf(given), step);
    const recorded = { ...inputs, lost: recordedLost(olds.lost, lost) };
    if (failures.length === 0) reportRecorded(nameOf(given), olds, recorded, RECORDED);
    return { inputs, failures: [...failures, ...issues] };
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const compared = { ...news, lost: recordedLost(olds.lost, news.lost) };
    const recorded = RECORDED.some((key) => !isDeepStrictEqual(olds[key], compared[key]));
    const taken = (news.steps ?? []).some((text) => clusterOwnerSteps.parse(text)?.kind === "takeOver");
    return Promise.resolve({ changes: recorded || taken });
  },

  async create(inputs: Inputs) {
    await takeOver(inputs);
    return { id: inputs.specification.name, outs: inputs };
  },

  async update(_id, _olds: Inputs, news: Inputs) {
    await takeOver(news);
    return { outs: news };
  },

  /**
   * Gives back every recorded machine that still has this stack's mark: what an interrupted run left, since the
   * ClusterInit gives back those of a cluster that is in the state.
   */
  async delete(_id, inputs: Inputs) {
    const { specification, machines, former = [], lost, provided, adopts } = inputs;
    const { name: cluster } = specification;
    if (provided) return;
    const resource = nameOf(inputs);
    const asked = [...machines, ...former].filter(
      ({ name }) => !lost.includes(name) && !wasGivenBack(cluster, name),
    );
    const facts = await readMachineFacts(inputs, asked);
    const reachable = { ...inputs, timeouts: { ...inputs.timeouts, ssh: 30 } };
    const unread: string[] = [];
    await withMachines(resource, reachable, async (session) => {
      const marked: RecordedMachine[] = [];
      for (const machine of asked) {
        const { name } = machine;
        const found = giveBack({ cluster, machine: name, self: selfOf(inputs) }, facts.get(name)!);
        if (found === "give back") marked.push(machine);
        else if (found === "nothing") continue;
        else if ("foreign" in found) session.progress(`left as it is: ${found.foreign}`);
        else if (former.includes(machine))
          session.progress(
            `${name} left earlier and could not be asked whether it was reset: ${found.unread}`,
          );
        else unread.push(`${name}: ${found.unread}`);
      }
      const [step, script, seconds] = adopts
        ? (["release", releaseScript, RELEASE_SECONDS] as const)
        : (["kubeadm reset", resetScript, RESET_SECONDS] as const);
      const failures = await failuresOfEach(marked, step, async (machine) => {
        await session.run(machine, script, { seconds });
        session.progress(
          `${machine.name}: ${adopts ? "released" : "reset"}; an interrupted run had begun with it`,
        );
      });
      if (failures.length > 0) throw errorOf(failures);
    });
    if (unread.length > 0)
      throw new Error(
        `${resource}: could not ask whether a run that was interrupted had begun with them:\n${unread.join("\n")}\n` +
          "  next: start these machines and run `pulumi destroy` again; if they are gone, forget them: pulumi state delete <URN of this resource> (pulumi stack --show-urns lists it)",
      );
  },
};
