import { hostname, userInfo } from "node:os";
import { isAlive, processPlace, readProcess } from "../process/identity";
import type { Lease } from "./objects";

/** Who changes a cluster. */
export interface LeaseHolder {
  user: string;
  host: string;
  stack: string;
  pid: number;
  /** ISO time, for people */
  startedAt: string;
  /** opaque: with it, a dead holder is known at once from the same host */
  process?: { place: string; startTime: string };
}

const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString();

/** A holder as callers name it; what they leave out is this process. */
export type NamedHolder = Pick<LeaseHolder, "stack"> & Partial<LeaseHolder>;

/** This process as a holder. */
export function currentHolder(stack: string): LeaseHolder {
  return completeHolder({ stack });
}

/** The holder in full. */
export function completeHolder(named: NamedHolder): LeaseHolder {
  const who = { user: named.user ?? userName(), host: named.host ?? hostname(), stack: named.stack };
  if (named.pid !== undefined) return { startedAt: "unknown", ...named, ...who, pid: named.pid };
  const own = { place: processPlace(), startTime: readProcess(process.pid)?.startTime ?? "" };
  return { ...who, pid: process.pid, startedAt, process: own };
}

/** How messages name a holder. */
export function describeHolder(holder: LeaseHolder): string {
  return `${holder.user}@${holder.host} (stack ${holder.stack}, process ${holder.pid}, since ${holder.startedAt})`;
}

/** The holder as one line for `spec.holderIdentity`; the same process always gives the same. */
export function identityOf(holder: LeaseHolder): string {
  return `${holder.user}@${holder.host}/${holder.stack}/${holder.pid}/${holder.startedAt}`;
}

const ANNOTATION = "foresail/holder";

/** The annotations that say who holds, in full. */
export function holderAnnotations(holder: LeaseHolder | undefined): Record<string, string | null> {
  return { [ANNOTATION]: holder ? JSON.stringify(holder) : null };
}

/** Who holds a Lease, or undefined when nobody does. A holder that isn't foresail has only a user. */
export function readHolder(lease: Lease | undefined): LeaseHolder | undefined {
  const identity = lease?.spec?.holderIdentity;
  if (!identity) return undefined;
  try {
    const holder = JSON.parse(lease.metadata?.annotations?.[ANNOTATION] ?? "") as LeaseHolder;
    if (identityOf(holder) === identity) return holder;
  } catch {
    // written by somebody else
  }
  return { user: identity, host: "unknown", stack: "unknown", pid: 0, startedAt: "unknown" };
}

/** Whether it is certain that the holder's process is dead: it ran where this one runs, and no longer does. */
export function isCertainlyDead(holder: LeaseHolder): boolean {
  if (!holder.process || holder.process.place !== processPlace()) return false;
  return !isAlive({ pid: holder.pid, startTime: holder.process.startTime });
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
