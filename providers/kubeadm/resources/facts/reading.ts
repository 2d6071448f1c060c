import { messageOf } from "../../../../lib/error-message";
import { changesSoFar } from "../../../../lib/pulumi/changes";
import { isKnown } from "../../../../lib/unknown";
import { sshTarget } from "../../client/ssh-target";
import { machineFactsScript, parseMachineFacts } from "../../machine/facts/facts-script";
import type { JumpHost, SshCredentials } from "../../plan/cluster/machine";
import type { MachineFacts, ReadFacts } from "../../plan/facts/machine-facts";
import type { Script } from "../../machine/steps";
import type { RecordedMachine } from "../../plan/facts/ownership";
import { allInParallel } from "../session/machines-session";

/** How long a machine may take to answer a check. */
const READ_SECONDS = 5;
/** How long the checks of one run share what a machine said. */
const SHARED_MILLISECONDS = 10_000;

/** How the machines of a cluster are reached. */
export interface ReadingAccess {
  readonly credentials: SshCredentials;
  readonly jumpHost?: JumpHost;
}

interface Shared {
  readonly facts: Promise<ReadFacts>;
  readonly until: number;
  readonly changes: number | undefined;
}

/** What machines said a moment ago, by their addresses. */
const shared = new Map<string, Shared>();

/**
 * Reads the facts of machines over SSH, in parallel and with a short limit. Writes nothing on them. The checks of a run
 * share the answers until this process changes something. A machine whose host key is not known yet is read at first
 * contact, and its key is not pinned.
 *
 * @returns the facts by machine, or why it could not be read
 */
export async function readMachineFacts(
  access: ReadingAccess,
  machines: readonly RecordedMachine[],
): Promise<Map<string, ReadFacts>> {
  const found = new Map<string, ReadFacts>();
  await allInParallel(machines, async (machine) => {
    found.set(machine.name, await sharedFacts(access, machine));
  });
  return found;
}

/** What the check of a ClusterOwner read in this process, by cluster. */
const byCluster = new Map<string, ReadOwners>();

/** Machines that a check has read, and those of them with a mark of an earlier release. */
interface ReadOwners {
  readonly names: readonly string[];
  readonly unnamed: readonly string[];
}

/** Keeps what the ClusterOwner read for the ClusterInit, whose state says which marks of earlier releases are the stack's. */
export const rememberRead = (cluster: string, read: ReadOwners): void => void byCluster.set(cluster, read);

/** Returns what the ClusterOwner of this run has read; nothing if this run leaves it out. */
export const readOwners = (cluster: string): ReadOwners =>
  byCluster.get(cluster) ?? { names: [], unnamed: [] };

/** Versions of the components that init starts, by cluster and machine, as the check of a ClusterOwner read them. */
const componentsByCluster = new Map<string, ReadonlyMap<string, string>>();

/** Keeps what the ClusterOwner read of a kubeadm on the machines for the line of the ClusterInit. */
export const rememberComponents = (cluster: string, components: ReadonlyMap<string, string>): void =>
  void componentsByCluster.set(cluster, components);

/** Returns the components of a kubeadm on a machine; undefined if none was read in this run. */
export const componentsOn = (cluster: string, machine: string): string | undefined =>
  componentsByCluster.get(cluster)?.get(machine);

/** Addresses by which the machines reach each other, by cluster, as the check of a ClusterOwner has them. */
const addressesByCluster = new Map<string, Readonly<Record<string, string>>>();

/** Keeps the addresses of all machines for the checks of the groups, which know only a part of them. */
export const rememberAddresses = (cluster: string, addresses: Readonly<Record<string, string>>): void =>
  void addressesByCluster.set(cluster, addresses);

/** Returns the addresses of all machines of a cluster; none if this run leaves out its ClusterOwner. */
export const addressesOf = (cluster: string): Readonly<Record<string, string>> =>
  addressesByCluster.get(cluster) ?? {};

/** Identifies a machine and the way to it. */
export const keyOf = ({ name, address, port, user }: RecordedMachine) => `${name} ${user}@${address}:${port}`;

/** Machines whose preparation the check of a ClusterOwner lists, by cluster. */
const listedByCluster = new Map<string, ReadonlySet<string>>();

/**
 * Keeps the machines whose preparation the check of a ClusterOwner lists, or says not to know, for the checks of the groups. Its
 * next check replaces them; time does not, since in a run the preparations come in between.
 */
export const rememberListed = (cluster: string, machines: readonly RecordedMachine[]): void =>
  void listedByCluster.set(cluster, new Set(machines.map(keyOf)));

/** Tells whether the ClusterOwner of this run lists the preparation of a machine. */
export const wasListed = (cluster: string, machine: RecordedMachine): boolean =>
  listedByCluster.get(cluster)?.has(keyOf(machine)) ?? false;

function usable(key: string): Shared | undefined {
  const known = shared.get(key);
  return known && known.until > Date.now() && known.changes === changesSoFar() ? known : undefined;
}

function sharedFacts(access: ReadingAccess, machine: RecordedMachine): Promise<ReadFacts> {
  const key = keyOf(machine);
  const known = usable(key);
  if (known) return known.facts;
  const facts = read(access, machine).catch((error: unknown) => ({ unread: messageOf(error) }));
  remember(key, facts);
  return facts;
}

function remember(key: string, facts: Promise<ReadFacts> | ReadFacts): void {
  const changes = changesSoFar();
  if (changes === undefined) return;
  shared.set(key, { facts: Promise.resolve(facts), until: Date.now() + SHARED_MILLISECONDS, changes });
}

async function read(access: ReadingAccess, machine: RecordedMachine): Promise<ReadFacts> {
  return connected(access, machine, (run) => factsBy(machine, run));
}

async function factsBy({ name }: RecordedMachine, run: Run): Promise<MachineFacts> {
  return parseMachineFacts(await run(machineFactsScript("", name), READ_SECONDS));
}

/** Runs a script on a machine that is connected, and returns its answer. */
export type Run = (script: Script, seconds: number) => Promise<string>;

/** The machine can't be asked yet: what SSH needs is not known. */
export class NotKnownYet extends Error {}

/**
 * Connects to a machine for a check, in a few seconds, and does the work there. A host key that is not known yet is read at
 * first contact, and not pinned.
 *
 * @throws NotKnownYet, and the SSH client's typed errors
 */
export async function connected<T>(
  { credentials, jumpHost }: ReadingAccess,
  machine: RecordedMachine,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const { address, port, user } = machine;
  if (!isKnown([address, port, user])) throw new NotKnownYet("its address is not known yet");
  if (!isKnown([credentials, jumpHost ?? null]))
    throw new NotKnownYet("the SSH credentials are not known yet");
  const { runScript, scanHostKey, SshConnection } = await import("../../../../lib/ssh/index.js");
  const target = sshTarget({ ...machine, hostKey: "" }, credentials, jumpHost);
  const hostKey = isKnown(machine.hostKey) ? machine.hostKey : await scanHostKey(target, READ_SECONDS);
  const options = { seconds: READ_SECONDS, dialSeconds: READ_SECONDS };
  const connection = await SshConnection.open({ ...target, hostKey }, options);
  try {
    return await work(async (script, seconds) => {
      const { stdout } = await runScript(connection, { ...script, seconds });
      return stdout;
    });
  } finally {
    connection.close();
  }
}

/** Reads the facts of a machine by a connection that there is, for the checks that share them. */
export async function rememberFacts(machine: RecordedMachine, run: Run): Promise<void> {
  const key = keyOf(machine);
  if (usable(key) === undefined) remember(key, await factsBy(machine, run));
}
