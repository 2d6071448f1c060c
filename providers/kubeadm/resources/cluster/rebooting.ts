import { readFile } from "node:fs/promises";
import { readJsonObjectOf } from "../../../../lib/json";
import { BOOT_ID, factsScript, type ReportedFacts, rebootScript } from "../../machine/steps";
import { MOST_CLOCK_MILLISECONDS } from "../../plan/facts/system-rows";
import type { Machine } from "../../plan/cluster/machine";
import { clockAdvice } from "../../../../lib/clock";
import { waitFor } from "../../../../lib/wait";
import type { MachinesSession } from "../session/machines-session";

/** The parts of a session that a reboot needs. */
type Session = Pick<MachinesSession, "run" | "progress" | "inputs">;

/** Reads what a machine reports about itself. Refuses a machine of another owner. */
export async function readReportedFacts(
  session: Pick<Session, "run">,
  machine: Parameters<Session["run"]>[0],
): Promise<ReportedFacts> {
  const facts = await session.run(machine, factsScript);
  return readJsonObjectOf(`what ${machine.name} says of itself`, facts) as unknown as ReportedFacts;
}

/**
 * Returns why a machine can't become a member with its clock, if it differs: its certificates would not be valid, or not
 * for others.
 *
 * @param seconds its time since 1970
 */
export function clockIssue({ name }: Pick<Machine, "name">, seconds: number): string | undefined {
  const [theirs, here] = [new Date(seconds * 1000), new Date()];
  if (Math.abs(theirs.getTime() - here.getTime()) <= MOST_CLOCK_MILLISECONDS) return undefined;
  return clockAdvice(`the clock of ${name}`, theirs, here);
}

/** Refuses a machine whose clock differs, before it becomes a member. */
export function assertClock(machine: Pick<Machine, "name">, { clock }: ReportedFacts): void {
  const issue = clock === undefined ? undefined : clockIssue(machine, clock);
  if (issue !== undefined) throw new Error(issue);
}

/**
 * Reboots a prepared machine before it becomes a member, if its packages ask for that, and waits until it is back: later,
 * a reboot would take a node out of service. The machine on which foresail itself runs is only reported.
 *
 * @throws WaitTimeout when the machine is not back within the time limit of its preparation
 */
export async function rebootIfRequired(
  session: Session,
  machine: Machine,
  { rebootOf = "" }: ReportedFacts,
): Promise<void> {
  if (rebootOf === "") return;
  const { name } = machine;
  const here = await readFile(BOOT_ID, "utf8").catch(() => "");
  if (here.trim() === rebootOf)
    return session.progress(
      `${name}: its packages ask for a reboot, but foresail runs on it; reboot it later`,
    );
  session.progress(`${name}: rebooting before it joins, as its packages ask for`);
  await session.run(machine, rebootScript);
  const { SshUnreachable, SshConnectionLost, SshCommandTimeout, AuthenticationRefused } =
    await import("../../../../lib/ssh/index.js");
  // a machine that goes down or comes up also refuses to log in
  const temporary = [SshUnreachable, SshConnectionLost, SshCommandTimeout, AuthenticationRefused];
  const probe = async () => {
    try {
      const facts = await readReportedFacts(session, machine);
      return facts.rebootOf === rebootOf ? { pending: "it has not gone down yet" } : { done: undefined };
    } catch (error) {
      if (temporary.some((kind) => error instanceof kind)) return { pending: (error as Error).message };
      throw error;
    }
  };
  const what = `${name} to come back after its reboot`;
  const seconds = session.inputs.timeouts.prepare;
  await waitFor({ what, seconds, progress: session.progress, probe });
}
