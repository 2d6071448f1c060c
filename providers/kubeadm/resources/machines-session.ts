import { assertEngineAlive } from "../../../lib/process/parent-watch";
import type { SshPool, SshTarget } from "../../../lib/ssh";
import type { Script } from "../machine/steps";
import { type Machine, jumpHostKey, machineKey, type JumpHost, type SshCredentials } from "../plan/machine";
import type { ClusterInputs } from "./inputs";
import { report } from "../../../lib/pulumi/log";
import { isReady } from "../../../lib/kubernetes/api-server-health";

/** The connections of one handler to the machines of a cluster. Close it when the handler ends. */
export class MachinesSession {
  private pool?: SshPool;

  constructor(
    readonly resource: string,
    private readonly inputs: Pick<ClusterInputs, "credentials" | "jumpHost" | "timeouts">,
  ) {}

  /**
   * Runs one remote step and returns its answer. Refuses to begin when the engine that requested it is gone.
   *
   * @param seconds time limit of the step itself, in addition to the connection's
   * @throws the SSH client's typed errors, and EngineGone
   */
  async run(machine: Machine, script: Script, options: { seconds: number; data?: string }): Promise<string> {
    const { SshPool, runScript } = await import("../../../lib/ssh/index.js");
    assertEngineAlive();
    this.pool ??= new SshPool({
      seconds: this.inputs.timeouts.ssh,
      dialSeconds: this.inputs.timeouts.dial,
      progress: (line: string) => report(this.resource, line),
    });
    const target = sshTarget(machine, this.inputs.credentials, this.inputs.jumpHost);
    const connection = await this.pool.connection(target);
    assertEngineAlive();
    const { stdout } = await runScript(connection, { ...script, ...options });
    return stdout;
  }

  close(): void {
    this.pool?.close();
  }
}

/**
 * Returns how SSH reaches one machine: its pinned key, its private key or the agent, and the jump host if there is one.
 */
export function sshTarget(
  machine: Pick<Machine, "name" | "address" | "port" | "user" | "hostKey">,
  credentials: SshCredentials,
  jumpHost?: JumpHost,
): SshTarget {
  const agentSocket = process.env.SSH_AUTH_SOCK;
  const privateKey = machineKey(credentials, machine.name);
  const jumpKey = jumpHostKey(credentials);
  return {
    name: machine.name,
    address: machine.address,
    port: machine.port,
    user: machine.user,
    hostKey: machine.hostKey,
    ...(privateKey ? { privateKey } : { agentSocket }),
    ...(jumpHost
      ? {
          jumpHost: {
            name: "jump host",
            ...jumpHost,
            ...(jumpKey ? { privateKey: jumpKey } : { agentSocket }),
          },
        }
      : {}),
  };
}

/** Maximum number of machines at once; each has one SSH connection. */
const AT_ONCE = 20;

/** Runs the work for every item, a bounded number at a time. Throws the first error after all have ended. */
export async function allInParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const errors: unknown[] = [];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1)
    throw new AggregateError(
      errors,
      errors.map((error) => (error instanceof Error ? error.message : String(error))).join("\n"),
    );
}

/** Workers whose machines this run could not reach when it installed the node agents, by cluster. */
const unreached = new Map<string, readonly string[]>();

/**
 * Keeps them for the rollout of the same run, which leaves them out and reports them. They are not in the state: the
 * next run tries the machines again.
 */
export function rememberUnreached(cluster: string, machines: readonly string[]): void {
  unreached.set(cluster, machines);
}

/** Returns the workers of a cluster that this run did not reach; empty in a preview, which contacts no machine. */
export function unreachedMachines(cluster: string): readonly string[] {
  return unreached.get(cluster) ?? [];
}

/** Returns the first control plane whose API server is ready. */
export async function firstReady(controlPlanes: Machine[]): Promise<Machine | undefined> {
  const ready = await Promise.all(controlPlanes.map(({ apiServer }) => isReady(apiServer)));
  return controlPlanes.find((_machine, index) => ready[index]);
}

/** Formats the message that no control plane's API server is ready. */
export function noneReady(controlPlanes: Machine[]): string {
  const asked = controlPlanes.map(({ name, apiServer }) => `${name} (${apiServer})`).join(", ");
  return `no control plane's API server is ready; asked ${asked}`;
}

/**
 * Returns a control plane whose API server is ready, looked up on each call and never stored.
 *
 * @throws Error when none is ready, with the names of all
 */
export async function livingControlPlane(controlPlanes: Machine[]): Promise<Machine> {
  const living = await firstReady(controlPlanes);
  if (!living) throw new Error(noneReady(controlPlanes));
  return living;
}
