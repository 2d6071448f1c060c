import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../../../../lib/error-message";
import { SshCommandError, SshCommandTimeout } from "../../../../lib/ssh/errors";
import { startAgentScript } from "../../machine/steps";
import type { Asked, RolloutNode } from "../../plan/rollout/observed";
import { awaitedOfAgent, SILENT_SECONDS, writtenByAgent } from "../../plan/rollout/silent-agent";
import type { Machine } from "../../plan/cluster/machine";
import type { MachinesSession } from "../session/machines-session";
import type { RolloutSession } from "./record";

/** How long a look may wait for the machine's lock, which an agent at work has. */
const LOOK_SECONDS = 20;
const SECOND = 1000;
/** Exit code of the step when systemd does not start the agent, or the agent ends again. */
const NOT_STARTED = 65;

/** The agent of a node does not run, and can't be started. */
export class AgentStopped extends Error {}

/**
 * Starts the agent of a machine if it does not run.
 *
 * @param say takes what a person should know
 * @throws AgentStopped when it can't be started; a machine that can't be looked at is left as it is
 */
export async function startAgent(
  session: Pick<MachinesSession, "run" | "progress">,
  machine: Machine,
  say = (line: string) => session.progress(line),
): Promise<void> {
  const { name } = machine;
  try {
    const found = await session.run(machine, startAgentScript, { seconds: LOOK_SECONDS });
    if (found.trim() === "started") say(`${name}: its node agent did not run and was started`);
  } catch (error) {
    // an agent at work has the machine's lock
    if (error instanceof SshCommandTimeout) return;
    // a machine that can't be reached may be back before the limit
    if (!(error instanceof SshCommandError) || !error.hasBegun || error.exitCode !== NOT_STARTED) {
      say(`whether the node agent of ${name} runs could not be seen: ${messageOf(error)}`);
      return;
    }
    throw new AgentStopped(`the node agent on ${name} does not run and can't be started: ${error.words}`);
  }
}

/**
 * Looks at the machine of a node whose agent writes nothing, and starts the agent there when it does not run. Use one for each
 * wait.
 */
export class AgentWatch {
  private readonly ended = new AbortController();
  private written = "";
  private awaited: ReturnType<typeof awaitedOfAgent>;
  private since = Date.now();
  private readonly said = new Set<string>();

  constructor(
    private readonly session: RolloutSession,
    private readonly node: string,
    private readonly asked: Asked,
    private readonly silentSeconds = SILENT_SECONDS,
  ) {}

  /** Takes what the wait has seen of the node. */
  saw(node: RolloutNode): void {
    const written = writtenByAgent(node);
    this.awaited = awaitedOfAgent(node, this.asked);
    if (written === this.written) return;
    this.written = written;
    this.since = Date.now();
  }

  /**
   * Waits while the agent runs, or can be started.
   *
   * @param wait ends when its signal is aborted
   * @throws AgentStopped; what the wait throws
   */
  async during(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.ended;
    const waiting = wait(signal);
    try {
      await Promise.race([waiting, this.untilStopped(signal)]);
    } finally {
      this.ended.abort();
      await waiting.catch(() => undefined);
    }
  }

  /** Looks again and again. Never resolves while the wait goes on. @throws AgentStopped */
  private async untilStopped(signal: AbortSignal): Promise<void> {
    while (await this.passes(signal)) {
      const { awaited } = this;
      if (awaited === undefined || Date.now() - this.since < this.silentSeconds[awaited] * SECOND) continue;
      await this.look();
      this.since = Date.now();
    }
    // the wait has ended, and its end counts
    await new Promise(() => undefined);
  }

  private passes(signal: AbortSignal): Promise<boolean> {
    return pause(SECOND, true, { signal, ref: false }).catch(() => false);
  }

  private async look(): Promise<void> {
    const { session, node } = this;
    const machine = session.inputs.machines.find(({ name }) => name === node);
    if (machine !== undefined) await startAgent(session, machine, (line) => this.say(line));
  }

  /** Says each line once, and none after the wait, when the connection of a look may have been closed. */
  private say(line: string): void {
    if (this.said.has(line) || this.ended.signal.aborted) return;
    this.said.add(line);
    this.session.progress(line);
  }
}
