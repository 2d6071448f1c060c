import { clockDifference } from "../../../../lib/clock";
import { isObject, parseJson } from "../../../../lib/json";
import { shortLineIssue } from "../../../../lib/validation/names";
import { quoted } from "../../../../lib/text/quote";
import type { Machine } from "../cluster/machine";
import type { RolloutStep } from "../rollout/desired";
import type { NodeRolloutStep } from "../steps";

/** What is kept of etcd, where, and who can read it. */
export interface BackupSettings {
  /** Where the snapshots are kept, on the machine that runs foresail. */
  folder: string;
  /** Public keys of age: each of their private keys can restore. */
  recipients: readonly string[];
  /** How many snapshots stay. */
  keep: number;
  /** Snapshots that are older do not stay; absent for no limit. */
  keepDays?: number;
}

/** A snapshot, as the machine describes it. None of it is secret. */
export interface SnapshotFacts {
  cluster: string;
  /** Identity of the stack; empty in state of earlier releases. */
  stack: string;
  /** The control plane whose files are in it. */
  machine: string;
  /** ISO 8601. */
  taken: string;
  /** Of Kubernetes on that machine. */
  version: string;
  /** Of etcd. */
  revision: number;
  /** As `etcdutl snapshot status` has it. */
  hash: number;
  keys: number;
  /** Of etcd's data, in bytes. */
  bytes: number;
}

/** A snapshot in a folder. */
export interface KeptSnapshot extends SnapshotFacts {
  /** Name of its file in the folder. */
  file: string;
  /** Of the encrypted file. */
  sha256: string;
}

/** What a stack that sets no number keeps. */
export const DEFAULT_KEEP = 10;

const DAY = 86_400_000;

/**
 * Returns the snapshots that do not stay. The one that was just written always stays, whatever the clocks say, and so do
 * those of other clusters in the same folder.
 *
 * @param written the one that was just written
 * @param now milliseconds
 */
export function expiredSnapshots(
  kept: readonly KeptSnapshot[],
  { keep, keepDays }: Pick<BackupSettings, "keep" | "keepDays">,
  written: Pick<KeptSnapshot, "cluster" | "stack" | "file">,
  now: number,
): KeptSnapshot[] {
  const oldest = keepDays === undefined ? -Infinity : now - keepDays * DAY;
  const others = kept.filter(
    ({ cluster, stack, file }) =>
      cluster === written.cluster && stack === written.stack && file !== written.file,
  );
  return newestFirst(others).filter(({ taken }, index) => index + 1 >= keep || Date.parse(taken) < oldest);
}

/** Of what a snapshot is. */
export type SnapshotIdentity = Pick<SnapshotFacts, "cluster" | "stack" | "machine">;

/** @throws Error when a machine has described another snapshot than the one that it was asked for */
export function assertAsked(facts: SnapshotIdentity, asked: SnapshotIdentity): void {
  const described = ({ cluster, stack, machine }: SnapshotIdentity) => `${cluster} ${stack} ${machine}`;
  if (described(facts) !== described(asked))
    throw new Error(
      `${asked.machine} answers with a snapshot of another cluster, stack or machine: ${described(facts)}`,
    );
}

/** How far a machine's clock may be from this one. */
const CLOCK_MILLISECONDS = 300_000;

/** Returns a snapshot with this computer's time where the machine's clock is wrong: files are kept by their time. */
export function datedSnapshot<Facts extends Pick<SnapshotFacts, "machine" | "taken">>(
  facts: Facts,
  now: number,
): { readonly facts: Facts; readonly clock?: string } {
  const [theirs, here] = [new Date(facts.taken), new Date(now)];
  if (Math.abs(theirs.getTime() - now) <= CLOCK_MILLISECONDS) return { facts };
  const taken = `${here.toISOString().slice(0, 19)}Z`;
  return {
    facts: { ...facts, taken },
    clock: `${facts.machine}: its clock is ${clockDifference(theirs, here)}; the snapshot is kept with the time here, ${taken}`,
  };
}

/** Returns snapshots with the newest one first. */
export const newestFirst = (kept: readonly KeptSnapshot[]): KeptSnapshot[] =>
  [...kept].sort((one, other) => Date.parse(other.taken) - Date.parse(one.taken));

/** Returns the name of a snapshot's file without its ending: "demo-20261128T001502Z". */
export const snapshotName = ({ cluster, taken }: Pick<SnapshotFacts, "cluster" | "taken">): string =>
  `${cluster}-${taken.replaceAll(/[-:]|\.\d+/g, "")}`;

/**
 * Reads the facts of a snapshot, from a machine or a folder.
 *
 * @throws Error when the text does not describe one
 */
export function parseSnapshotFacts(source: string, text: string): SnapshotFacts {
  const value = parseJson(text);
  const numbers = ["revision", "hash", "keys", "bytes"] as const;
  const words = ["cluster", "machine", "version"] as const;
  const isSound =
    isObject(value) &&
    numbers.every((key) => Number.isSafeInteger(value[key])) &&
    words.every((key) => typeof value[key] === "string" && /^[\w.+-]{1,253}$/.test(value[key])) &&
    typeof value.stack === "string" &&
    /^[\da-f-]{0,36}$/.test(value.stack) &&
    typeof value.taken === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value.taken) &&
    !Number.isNaN(Date.parse(value.taken));
  if (!isSound) throw new Error(`${source} does not describe a snapshot: ${quoted(text.slice(0, 200))}`);
  const { cluster, stack, machine, taken, version, revision, hash, keys, bytes } =
    value as unknown as SnapshotFacts;
  return { cluster, stack, machine, taken, version, revision, hash, keys, bytes };
}

/** Returns a snapshot in words: "etcd at revision 1234 (hash 5a1f, 812 keys, 12 MiB)". */
export const describeSnapshot = ({ revision, hash, keys, bytes }: SnapshotFacts): string =>
  `etcd at revision ${revision} (hash ${hash.toString(16)}, ${keys} keys, ${Math.ceil(bytes / 2 ** 20)} MiB)`;

/** Returns the control plane from which a snapshot is taken: the first one, which a restore begins with, too. */
export const snapshotMachine = <Each extends Pick<Machine, "role">>(
  machines: readonly Each[],
): Each | undefined => machines.find(({ role }) => role === "control-plane");

/**
 * Returns which step a snapshot has to precede: the first one of a control plane; -1 without one, and when an earlier run
 * began it, since that run has taken the snapshot.
 */
export function snapshotAt(steps: readonly Pick<RolloutStep, "controlPlane" | "resumed">[]): number {
  const first = steps.findIndex(({ controlPlane }) => controlPlane);
  return steps[first]?.resumed === false ? first : -1;
}

/**
 * Returns the lines of a rollout with that of its snapshot.
 *
 * @param lines of the steps, in the same order
 */
export function withSnapshot(
  steps: readonly RolloutStep[],
  lines: readonly NodeRolloutStep[],
  machine: string | undefined,
  backup: BackupSettings | undefined,
): NodeRolloutStep[] {
  const at = snapshotAt(steps);
  if (backup === undefined || machine === undefined || at < 0) return [...lines];
  return [...lines.slice(0, at), snapshotStep(machine, backup), ...lines.slice(at)];
}

function snapshotStep(
  machine: string,
  { folder, recipients, keep, keepDays }: BackupSettings,
): NodeRolloutStep {
  return {
    kind: "snapshot",
    machine,
    folder,
    recipients: recipients.length,
    keep,
    ...(keepDays === undefined ? {} : { days: keepDays }),
  };
}

/** Returns what is wrong with the folder of snapshots, or undefined. */
export const folderIssue = (folder: string): string | undefined =>
  folder.startsWith("~")
    ? "begins with ~, which only a shell knows; write an absolute path, or one below the project's folder"
    : shortLineIssue(folder);

/** A public key of age, X25519 or post-quantum. Its checksum is checked when it is used. */
const RECIPIENT = /^age1(?:[02-9ac-hj-np-z]{58}|pq1[02-9ac-hj-np-z]{1000,4000})$/;

/** Returns what is wrong with a public key of age, or undefined. */
export function recipientIssue(text: string): string | undefined {
  if (/^AGE-SECRET-KEY-/i.test(text))
    return "is a private key; write the public one (age1…), and keep the private one away from the configuration";
  return RECIPIENT.test(text)
    ? undefined
    : "is not a public key of age; make a pair with `age-keygen -o key.txt`, and write the line that begins with age1";
}
