import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { waitFor } from "../../lib/wait";
import { run } from "../../sandbox/nodes/command";

/** An SSH agent of its own that holds one key. */
export class SshAgent {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    /** Value for SSH_AUTH_SOCK. */
    readonly socket: string,
  ) {}

  /** @param keyFile a private key, 0600 */
  static async start(keyFile: string): Promise<SshAgent> {
    const folder = await mkdtemp(path.join(tmpdir(), "foresail-agent-"));
    const socket = path.join(folder, "agent");
    const agent = new SshAgent(spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" }), folder, socket);
    await waitFor({
      what: "the SSH agent to take the key",
      seconds: 10,
      longestPauseMilliseconds: 50,
      probe: async () => {
        try {
          await run("ssh-add", ["-q", keyFile], { environment: { SSH_AUTH_SOCK: socket } });
          return { done: true };
        } catch (error) {
          return { pending: error instanceof Error ? error.message : String(error) };
        }
      },
    });
    return agent;
  }

  async stop(): Promise<void> {
    this.process.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
