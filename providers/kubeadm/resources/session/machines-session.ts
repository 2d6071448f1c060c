import type { Writable } from "node:stream";
import { assertEngineAlive } from "../../../../lib/process/parent-watch";
import type { SshPool } from "../../../../lib/ssh";
import { describeFailure } from "../../../../lib/pulumi/failure";
import { type Script, withOwner } from "../../machine/steps";
import { sshTarget } from "../../client/ssh-target";
import type { Machine } from "../../plan/cluster/machine";
import type { ClusterInputs } from "../declarations";
import { ownerOf } from "../facts/ownership";
import { report } from "../../../../lib/pulumi/log";
import { isReady } from "../../../../lib/kubernetes/api-server-health";
import { cutList } from "../../../../lib/text/quote";
import { messageOf } from "../../../../lib/error-message";

/** Time limit of a step that reads or changes little. */
const SHORT_SECONDS = 60;

/** What a session needs of its resource. */
type SessionInputs = Pick<ClusterInputs, "credentials" | "jumpHost" | "timeouts" | "owner" | "stack"> & {
  specification: { name: string };
};

/** How SSH reaches a machine. */
type Reached = Pick<Machine, "name" | "address" | "port" | "user" | "hostKey">;

/** The connections of one handler to the machines of a cluster. Close it when the handler ends. */
export class MachinesSession<Inputs extends SessionInputs = ClusterInputs> {
  private pool?: SshPool;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Prints one line of progress of the resource. */
  readonly progress = (line: string): void => report(this.resource, line);

  constructor(
    readonly resource: string,
    readonly inputs: Inputs,
  ) {
    this.cluster = inputs.specification.name;
  }

  /**
   * Runs one remote step for this stack and returns its answer. Refuses to begin when the engine that requested it is gone.
   *
   * @param step the step, or what returns it for the cluster and the machine
   * @param seconds time limit of the step itself, in addition to the connection's
   * @param sink takes a long answer as it comes
   * @param former identity of the owner from which the stack takes over
   * @throws the SSH client's typed errors, and EngineGone
   */
  async run(
    machine: Reached,
    step: Script | ((cluster: string, machine: string) => Script),
    {
      seconds: limit = SHORT_SECONDS,
      data,
      former,
      sink,
    }: {
      seconds?: number;
      data?: string | undefined;
      former?: string | undefined;
      sink?: Writable | undefined;
    } = {},
  ): Promise<string> {
    const { SshPool, runScript } = await import("../../../../lib/ssh/index.js");
    assertEngineAlive();
    const { timeouts, credentials, jumpHost } = this.inputs;
    const { ssh: seconds, dial: dialSeconds } = timeouts;
    this.pool ??= new SshPool({ seconds, dialSeconds, progress: this.progress });
    const connection = await this.pool.connection(sshTarget(machine, credentials, jumpHost));
    assertEngineAlive();
    const plain = typeof step === "function" ? step(this.cluster, machine.name) : step;
    const script = withOwner(plain, ownerOf(this.inputs), former);
    const { stdout } = await runScript(connection, { ...script, seconds: limit, data, sink });
    return stdout;
  }

  close(): void {
    this.pool?.close();
  }
}

/** Runs the work with connections to the machines, and closes them. */
export async function withMachines<Inputs extends SessionInputs, T>(
  resource: string,
  inputs: Inputs,
  work: (session: MachinesSession<Inputs>) => Promise<T>,
): Promise<T> {
  const session = new MachinesSession(resource, inputs);
  return work(session).finally(() => session.close());
}

/** Maximum number of machines at once; each has one SSH connection. */
const AT_ONCE = 20;

/** Runs the work for every item, a bounded number at a time. Throws the first error after all have ended. */
export async function allInParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const errors: unknown[] = [];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift())
      await work(item).catch((error: unknown) => errors.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane));
  throwAll(errors);
}

/** Throws these errors as one, if there are any. */
export function throwAll(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(messageOf).join("\n"));
}

/** A machine on which a step failed; `text` describes it for messages. */
export interface MachineFailure<Each = Machine> {
  machine: Each;
  error: unknown;
  text: string;
}

/** Runs a step on each machine in parallel. Returns where it failed: one machine does not stop the others. */
export async function failuresOfEach<Each extends { readonly name: string } = Machine>(
  machines: readonly Each[],
  step: string,
  work: (machine: Each) => Promise<void>,
): Promise<MachineFailure<Each>[]> {
  const failures: MachineFailure<Each>[] = [];
  await allInParallel(machines, (machine) =>
    work(machine).catch((error: unknown) => {
      failures.push({ machine, error, text: describeFailure({ resource: machine.name, step }, error) });
    }),
  );
  return failures.sort((one, other) => (one.machine.name < other.machine.name ? -1 : 1));
}

/** Returns one error for all failures, of which it names the first. */
export const errorOf = (failures: readonly Pick<MachineFailure, "text">[]): Error =>
  new Error(
    cutList(
      failures.map(({ text }) => text),
      "\n",
    ),
  );

/** Workers whose machines this run could not reach when it installed the node agents, by cluster. */
const unreached = new Map<string, readonly string[]>();

/**
 * Keeps them for the rollout of the same run, which leaves them out and reports them. They are not in the state: the
 * next run tries the machines again.
 */
export function rememberUnreached(cluster: string, machines: readonly string[]): void {
  unreached.set(cluster, machines);
}

/** Returns the workers of a cluster that this run did not reach; empty in a preview. */
export function unreachedMachines(cluster: string): readonly string[] {
  return unreached.get(cluster) ?? [];
}

/**
 * Returns the first control plane whose API server is ready, looked up on each call and never stored. Does not wait for
 * those after it, which may be starting.
 */
export async function firstReady(controlPlanes: readonly Machine[]): Promise<Machine | undefined> {
  const asked = controlPlanes.map((machine) => ({ machine, ready: isReady(machine.apiServer) }));
  for (const { machine, ready } of asked) if (await ready) return machine;
  return undefined;
}

/**
 * Returns the first control plane whose API server is ready.
 *
 * @throws Error when there is none
 */
export async function readyControlPlane(controlPlanes: readonly Machine[]): Promise<Machine> {
  const machine = await firstReady(controlPlanes);
  if (!machine) throw new Error(noneReady(controlPlanes));
  return machine;
}

/** Formats the message that no control plane's API server is ready. */
export function noneReady(controlPlanes: readonly Machine[]): string {
  const asked = controlPlanes.map(({ name, apiServer }) => `${name} (${apiServer})`).join(", ");
  return `no control plane's API server is ready; asked ${asked}`;
}
