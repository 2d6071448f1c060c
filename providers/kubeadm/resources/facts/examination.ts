import { changesSoFar } from "../../../../lib/pulumi/changes";
import { isKnown } from "../../../../lib/unknown";
import { unanswered } from "../../client/machine-reading";
import { machineReadingScript, parseMachineReading } from "../../machine/facts/machine-reading";
import { backendsOf } from "../../machine/steps";
import { CONTROL_PLANE_GROUP } from "../../plan/cluster/machine";
import { memberOf, specificationOf } from "../../plan/cluster/pools";
import type { MachineReading, Unanswered } from "../../plan/facts/machine-reading";
import { type Examination, examination } from "../../plan/facts/examination";
import { isControlPlane, type RecordedMachine } from "../../plan/facts/ownership";
import type { DesiredMachines } from "../declarations";
import { allInParallel } from "../session/machines-session";
export { noteLines } from "../../plan/facts/examination";
import { type ReadingAccess, connected, keyOf, rememberFacts } from "./reading";

/** How long a machine may take to answer all questions, in seconds. */
const SECONDS = 15;
/** How long the checks of one run share what a machine said. */
const SHARED_MILLISECONDS = 30_000;

type Answer = MachineReading | Unanswered;
type DesiredOfAll = DesiredMachines & {
  readonly controlPlanes: readonly string[];
  readonly credentialsSum?: string | undefined;
};

/** What machines said in this process, by the way to them. */
const answers = new Map<string, { answer: Promise<Answer>; until: number; changes: number | undefined }>();

/** Machines about which this process has said what the table finds, with what was wanted of them. */
const examined = new Map<string, number>();

/** Tells whether a check of this run has examined a machine already, so that another one does not say the same again. */
export const wasExamined = (machine: RecordedMachine): boolean =>
  (examined.get(keyOf(machine)) ?? 0) > Date.now();

/**
 * Reads machines that will become nodes, in parallel, and returns what the table of facts says about them. Writes nothing on
 * them. A machine that does not answer is unread, and nothing is said about it.
 *
 * @param desired what the cluster wants of them; machines are not read while a part of it is unknown
 * @param mayPass whether a login that is refused may be accepted later, as on a machine that was just made
 * @param controlPlanes names of all control planes: the endpoint that is prepared on each machine names them
 * @param credentialsSum SHA-256 of the registries' credentials; undefined if it is not known
 */
export async function examine(
  access: ReadingAccess,
  machines: readonly RecordedMachine[],
  desired: DesiredMachines,
  {
    mayPass = false,
    controlPlanes = [],
    credentialsSum,
  }: { mayPass?: boolean; controlPlanes?: readonly string[]; credentialsSum?: string | undefined } = {},
): Promise<Examination> {
  const read = new Map<string, Answer>();
  await allInParallel(machines, async (machine) => {
    read.set(
      machine.name,
      await answerOf(access, machine, machines, { ...desired, controlPlanes, credentialsSum }),
    );
  });
  for (const machine of machines) examined.set(keyOf(machine), Date.now() + SHARED_MILLISECONDS);
  const answered = machines.map((machine) => ({
    ...wantedOf(machine, desired),
    answer: read.get(machine.name)!,
  }));
  return examination(answered, { mayPass });
}

function wantedOf({ name, group = CONTROL_PLANE_GROUP }: RecordedMachine, desired: DesiredMachines) {
  const member = memberOf(group);
  const { podNetwork, internalAddresses } = desired;
  const specification = specificationOf(desired.specification, member);
  return {
    machine: { name, ...member },
    internalAddress: internalAddresses[name],
    specification,
    podNetwork,
  };
}

function answerOf(
  access: ReadingAccess,
  machine: RecordedMachine,
  machines: readonly RecordedMachine[],
  desired: DesiredOfAll,
): Promise<Answer> {
  const key = keyOf(machine);
  const known = answers.get(key);
  if (known && known.until > Date.now() && known.changes === changesSoFar()) return known.answer;
  const answer = ask(access, machine, machines, desired).catch(unanswered);
  const changes = changesSoFar();
  if (changes !== undefined) answers.set(key, { answer, until: Date.now() + SHARED_MILLISECONDS, changes });
  return answer;
}

async function ask(
  access: ReadingAccess,
  machine: RecordedMachine,
  machines: readonly RecordedMachine[],
  desired: DesiredOfAll,
): Promise<Answer> {
  const { specification, internalAddresses, controlPlanes, credentialsSum } = desired;
  if (!isKnown([specification, internalAddresses]))
    return { unread: "the cluster's settings are not known yet" };
  const neighbors = machines.flatMap((other) => {
    const address = internalAddresses[other.name];
    if (other.name === machine.name || !isControlPlane(other) || address === undefined) return [];
    return [`${other.name} ${address} ${other.port}`];
  });
  const script = machineReadingScript({
    ...wantedOf(machine, desired),
    neighbors,
    backends: controlPlanes.flatMap((name) => {
      const internalAddress = internalAddresses[name];
      return internalAddress === undefined ? [] : backendsOf([{ name, internalAddress }]);
    }),
    addresses: Object.values(internalAddresses),
    // that of credentials which are known only during the run is not; at first contact, anyone may answer
    ...(typeof credentialsSum === "string" && isKnown([credentialsSum, machine.hostKey])
      ? { credentialsSum }
      : {}),
  });
  return connected(access, machine, async (run) => {
    await rememberFacts(machine, run);
    const at = Date.now();
    return parseMachineReading(await run(script, SECONDS), at);
  });
}
