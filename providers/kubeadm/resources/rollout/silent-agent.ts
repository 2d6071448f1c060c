import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../../../../lib/error-message";
import { SshCommandError } from "../../../../lib/ssh/errors";
import { unanswered } from "../../client/machine-reading";
import { type AgentSeen, parseAgentLook, startAgentScript } from "../../machine/rollout/start-agent";
import type { RolloutNode } from "../../plan/rollout/observed";
import {
  AGENT_PATIENCE,
  type AgentLook,
  type AwaitedOfAgent,
  writtenByAgent,
} from "../../plan/rollout/silent-agent";
import type { Machine } from "../../plan/cluster/machine";
import type { MachinesSession } from "../session/machines-session";
import type { RolloutSession } from "./record";

/** How long a look may take: one that starts an agent watches it for a moment. */
const LOOK_SECONDS = 30;
const SECOND = 1000;
/** Exit code of the step when the agent was given up. */
const GIVEN_UP = 65;

/** The agent of a node does not run, and can't be started. */
export class AgentStopped extends Error {}

/** A machine refuses the login, so that nobody can look at its agent. */
class LookRefused extends Error {}

const NOT_YET: AgentSeen = { silentSeconds: 0, end: "no" };

/**
 * Starts the agent of a machine if it does not run, and ends one that does nothing.
 *
 * @param say takes what a person should know
 * @returns what was found; undefined for a machine that can't be looked at, which is left as it is
 * @throws AgentStopped when it can't be started; LookRefused
 */
export async function lookAtAgent(
  session: Pick<MachinesSession, "run">,
  machine: Machine,
  seen: AgentSeen,
  say: (line: string) => void,
): Promise<AgentLook | undefined> {
  const { name } = machine;
  try {
    const look = parseAgentLook(
      await session.run(machine, startAgentScript(seen), { seconds: LOOK_SECONDS }),
    );
    if (look.kind === "started") say(`${name}: its node agent did not run and was started`);
    if (look.kind === "ended") say(`${name}: its node agent did nothing and was started again`);
    if (look.kind === "says") say(`${name}: its node agent says: ${look.words}`);
    return look;
  } catch (error) {
    if (error instanceof SshCommandError && error.hasBegun && error.exitCode === GIVEN_UP)
      throw new AgentStopped(`the node agent on ${name} does not run and can't be started: ${error.words}`);
    // a machine that can't be reached may be back before the limit
    say(`whether the node agent of ${name} runs could not be seen: ${messageOf(error)}`);
    if ((await unanswered(error)).refused !== undefined) throw new LookRefused(messageOf(error));
    return undefined;
  }
}

/** Starts the agent of a machine if it does not run. @throws AgentStopped when it can't be started */
export async function startAgent(
  session: Pick<MachinesSession, "run" | "progress">,
  machine: Machine,
): Promise<void> {
  await lookAtAgent(session, machine, NOT_YET, session.progress).catch((error: unknown) => {
    if (!(error instanceof LookRefused)) throw error;
  });
}

/**
 * Looks at the machine of a node whose agent writes nothing: starts the agent there when it does not run, and ends it once when
 * it does nothing. Use one for each wait.
 */
export class AgentWatch {
  private readonly ended = new AbortController();
  private latest: RolloutNode | undefined;
  private written = "";
  private awaited: AwaitedOfAgent | undefined;
  private writtenAt = Date.now();
  private lookedAt = Date.now();
  private work: { readonly sum: string; readonly since: number } | undefined;
  private wasEnded = false;
  private readonly said = new Set<string>();

  /** @param awaitedOf what a node waits for from its agent */
  constructor(
    private readonly session: RolloutSession,
    private readonly node: string,
    private readonly awaitedOf: (node: RolloutNode) => AwaitedOfAgent | undefined,
    private readonly patience = AGENT_PATIENCE,
    private readonly tickMilliseconds = SECOND,
  ) {}

  /** Takes what the wait has seen of the node. */
  saw(node: RolloutNode): void {
    const written = writtenByAgent(node);
    this.latest = node;
    this.awaited = this.awaitedOf(node);
    if (written === this.written) return;
    this.written = written;
    this.writtenAt = this.lookedAt = Date.now();
    this.work = undefined;
    this.wasEnded = false;
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
      const { awaited, patience } = this;
      if (awaited === undefined) continue;
      if (Date.now() - this.lookedAt < patience.look[awaited] * SECOND) continue;
      await this.look(awaited);
      this.lookedAt = Date.now();
    }
    // the wait has ended, and its end counts
    await new Promise(() => undefined);
  }

  private passes(signal: AbortSignal): Promise<boolean> {
    return pause(this.tickMilliseconds, true, { signal, ref: false }).catch(() => false);
  }

  private async look(awaited: AwaitedOfAgent): Promise<void> {
    const { session, node } = this;
    const machine = session.inputs.machines.find(({ name }) => name === node);
    if (machine === undefined) return;
    const silentSeconds = (Date.now() - this.writtenAt) / SECOND;
    // one that says why it failed pauses before it tries again
    const pauses = this.latest?.message !== undefined;
    const end = this.wasEnded ? ("stop" as const) : ("restart" as const);
    const seen = { silentSeconds, end, pauses, idleSum: this.idleSum(awaited) };
    const found = await lookAtAgent(session, machine, seen, (line) => this.say(line)).catch(
      (error: unknown) => {
        const isOver = awaited === "begin" && silentSeconds >= this.patience.refused;
        if (!(error instanceof LookRefused)) throw error;
        if (isOver) throw new AgentStopped(`the node agent on ${node} does nothing: ${error.message}`);
        return undefined;
      },
    );
    if (found?.kind === "ended") this.wasEnded = true;
    if (found?.kind !== "works") this.work = undefined;
    else if (found.sum !== this.work?.sum) this.work = { sum: found.sum, since: Date.now() };
  }

  /** What the agent's processes have shown at each look for too long. */
  private idleSum(awaited: AwaitedOfAgent): string | undefined {
    const { work, patience } = this;
    const seconds = Math.max(patience.idle[awaited], this.wasEnded ? patience.anew : 0);
    return work && Date.now() - work.since >= seconds * SECOND ? work.sum : undefined;
  }

  /** Says each line once, and none after the wait, when the connection of a look may have been closed. */
  private say(line: string): void {
    if (this.said.has(line) || this.ended.signal.aborted) return;
    this.said.add(line);
    this.session.progress(line);
  }
}
