import { hostname, userInfo } from "node:os";
import { parseJson } from "../json";
import { isAlive, processPlace, readProcess } from "../process/identity";
import type { KubernetesClient } from "./client";
import type { LeaseObject } from "./objects";
import { CLUSTER_LEASE } from "./own-objects";

/** The process that changes a cluster. */
export interface LeaseHolder {
  user: string;
  host: string;
  stack: string;
  pid: number;
  /** ISO time, for messages */
  startedAt: string;
  /** opaque; identifies a dead holder immediately on the same host */
  process?: { place: string; startTime: string };
}

const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString();

/** A holder as callers name it; missing fields come from this process. */
export type NamedHolder = Pick<LeaseHolder, "stack"> & Partial<LeaseHolder>;

/** Adds the missing fields to a holder; returns this process as a holder of a stack. */
export function completeHolder(named: NamedHolder): LeaseHolder {
  const who = { user: named.user ?? userName(), host: named.host ?? hostname(), stack: named.stack };
  if (named.pid !== undefined) return { startedAt: "unknown", ...named, ...who, pid: named.pid };
  const own = { place: processPlace(), startTime: readProcess(process.pid)?.startTime ?? "" };
  return { ...who, pid: process.pid, startedAt, process: own };
}

/** Returns a holder's description for messages. */
export function describeHolder(holder: LeaseHolder): string {
  return `${holder.user}@${holder.host} (stack ${holder.stack}, process ${holder.pid}, since ${holder.startedAt})`;
}

/** Returns the holder as one line for `spec.holderIdentity`, constant for a process. */
export function holderIdentity(holder: LeaseHolder): string {
  return `${holder.user}@${holder.host}/${holder.stack}/${holder.pid}/${holder.startedAt}`;
}

const ANNOTATION = "foresail/holder";

/** Returns the annotations that describe the holder in full. */
export function holderAnnotations(holder: LeaseHolder | undefined): Record<string, string | null> {
  return { [ANNOTATION]: holder ? JSON.stringify(holder) : null };
}

/** Returns the holder of a Lease, or undefined when it is free. A holder that isn't foresail has only a user. */
export function readHolder(lease: LeaseObject | undefined): LeaseHolder | undefined {
  const identity = lease?.spec?.holderIdentity;
  if (!identity) return undefined;
  try {
    const holder = parseJson(lease.metadata?.annotations?.[ANNOTATION] ?? "") as LeaseHolder;
    if (holderIdentity(holder) === identity) return holder;
  } catch {
    // written by another program
  }
  return { user: identity, host: "unknown", stack: "unknown", pid: 0, startedAt: "unknown" };
}

/** Returns whether the holder's process is certainly dead: it ran where this process runs and no longer exists. */
export function isCertainlyDead(holder: LeaseHolder): boolean {
  if (!holder.process || holder.process.place !== processPlace()) return false;
  return !isAlive({ pid: holder.pid, startTime: holder.process.startTime });
}

/** Returns the name of this process's user; a container may have none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}

/** The Lease annotation that asks the running process to stop before the next node. */
export const PAUSE_REQUESTED = "foresail/pause-requested";

/** Returns the text of a pause request, or undefined when there is none. */
export async function pauseRequested(client: KubernetesClient): Promise<string | undefined> {
  return (await client.get<LeaseObject>(CLUSTER_LEASE))?.metadata?.annotations?.[PAUSE_REQUESTED];
}

/**
 * Returns whether a pause request is older than this run, which then ignores it.
 *
 * @param request the annotation's text, which begins with the time of the request
 * @param startedAt when this run began, ISO time
 */
export function isFromBefore(request: string | undefined, startedAt: string): boolean {
  return request !== undefined && !(Date.parse(request.split(" ")[0] ?? "") >= Date.parse(startedAt));
}
