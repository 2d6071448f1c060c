import { callPulumi, PulumiError, type Project } from "./pulumi";
import { type FoundLock, judgeLock, type LockVerdict, StackLockedError } from "./stack-lock";
import { print } from "../terminal/terminal";

/** What the engine says when it can't lock a stack. */
const LOCKED = /the stack is currently locked by (\d+) lock\(s\)/;
/** A line for each lock. A user's name may contain "@", a host's name can't. */
const HOLDER = /^ +\S+: created by (.+)@(\S+) \(pid (\d+)\) at (\S+)$/gm;
/** Pulumi Cloud's words for the same. It names no process. */
const CONFLICT = /\[409\] Conflict: Another update is currently in progress/;
/** The answer of a stack that exists and was not locked. */
const NOT_RENAMED = /a stack named \S+ already exists/;

/** The verdict on all locks together: as strict as the strictest, since they are cleared together. */
const STRICTEST = ["held", "unknown", "dead"] as const;

/**
 * Reads from the engine's output who locks a stack.
 *
 * @param judge decides on a lock, as JSON
 * @returns undefined when the output does not say that the stack is locked
 */
export function judgeEngineLock(output: string, judge = judgeLock): LockVerdict | undefined {
  if (CONFLICT.test(output))
    return { kind: "unknown", because: "Pulumi Cloud reports that another update is in progress" };
  const count = Number(LOCKED.exec(output)?.[1] ?? 0);
  if (count === 0) return undefined;
  const verdicts = [...output.matchAll(HOLDER)].map(([, username, hostname, pid, timestamp]) =>
    judge(JSON.stringify({ pid: Number(pid), username, hostname, timestamp })),
  );
  while (verdicts.length < count) verdicts.push(judge(""));
  const kind = STRICTEST.find((strict) => verdicts.some((verdict) => verdict.kind === strict)) ?? "unknown";
  return { kind, because: [...new Set(verdicts.map(({ because }) => because))].join("; ") };
}

/** Returns the name by which a backend without organizations knows a stack. */
export const fullName = (project: string, stack: string): string =>
  stack.includes("/") ? stack : `organization/${project}/${stack}`;

/**
 * Finds the lock on a stack in a bucket or a database. The engine has no command that shows locks, so this asks it to
 * rename the stack to its own name: it takes the lock, refuses because the name is taken, and releases the lock.
 *
 * @returns undefined when the stack is not locked
 * @throws PulumiError when the backend can't be read, or has no such stack
 */
export async function findRemoteLock(
  { folder, name }: Project,
  stack: string,
): Promise<FoundLock | undefined> {
  const project = { folder, name };
  const full = fullName(name, stack);
  try {
    await callPulumi({ project, args: ["stack", "rename", full, "--stack", full] });
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    if (NOT_RENAMED.test(error.output)) return undefined;
    const verdict = judgeEngineLock(error.output);
    if (verdict === undefined) throw error;
    // no other run takes a lock while this one is left, so the engine's command deletes nothing else
    const clear = async () => void (await callPulumi({ project, args: ["cancel", full, "--yes"] }));
    return { verdict, clear };
  }
  return undefined;
}

/** Says who locks the stack, and what to do, if the engine ended because of a lock. */
export function sayIfLocked(output: string, stack: string, say = print): boolean {
  const verdict = judgeEngineLock(output);
  if (verdict === undefined) return false;
  say(new StackLockedError(stack, [verdict]).message);
  return true;
}
