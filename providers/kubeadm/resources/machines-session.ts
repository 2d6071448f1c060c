import { assertEngineAlive } from "../../../lib/process/parent-watch";
import type { SshPool } from "../../../lib/ssh";
import type { Script } from "../machine/steps";
import type { Machine } from "../plan/machine";
import type { ClusterInputs } from "./inputs";
import { report } from "../../../lib/pulumi/log";
import { sshTarget } from "./ssh-targets";

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
