import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type ProcessFacts, readProcess } from "../../lib/process/identity";
import type { Operation } from "../../providers/kubeadm/machine/operations";
import type { JournalLine } from "../simulation/fleet-files";
import { descendants, killProcess, untilEnded } from "../support/process-tree";
import type { SimulatedFixture } from "./simulated-fixture";
import type { TestStack } from "./test-stack";

/** What is killed: the engine, while plugins and provider keep running as orphans; or all of them at once. */
export type KillMode = "pulumi alone" | "the whole tree";

export interface KillPoint {
  readonly machine: string;
  readonly operation: string;
  readonly event: JournalLine["event"];
}

export interface KilledUp<Point = KillPoint> {
  /** Where it was killed; undefined for an `up` that completed. */
  readonly killed?: Point & { readonly at: number };
  /** What outlived the engine. */
  readonly orphans: ProcessFacts[];
  readonly exitCode?: number;
  readonly output: string;
}

const SECONDS = 100;
const LOOK_MILLISECONDS = 5;

export function nameOf({ operation, machine, event }: KillPoint): string {
  return `${event} of ${operation} on ${machine}`;
}

/** Runs `up` and kills it as soon as the machines' journal shows an event that `isPoint` accepts. */
export function killedUp(
  { stack, fleet }: Pick<SimulatedFixture, "stack" | "fleet">,
  mode: KillMode,
  isPoint: (point: KillPoint) => boolean,
): Promise<KilledUp> {
  const before = fleet.files.journalLines.length;
  return upKilledWhen(stack, mode, () => fleet.files.journalLines.slice(before).find(isPoint));
}

/** Runs `up` and kills all of it as soon as a step has started on a machine, which hangs; returns when nothing of it runs. */
export async function killedDuring(
  fixture: Pick<SimulatedFixture, "stack" | "fleet">,
  step: { operation: Operation; machine: string },
): Promise<void> {
  fixture.fleet.inject({ ...step, kind: "hang", milliseconds: 2_000 });
  const { killed, orphans, output } = await killedUp(
    fixture,
    "the whole tree",
    ({ operation, machine, event }) =>
      operation === step.operation && machine === step.machine && event === "start",
  );
  assert.ok(killed, output);
  await untilOrphansEnd(orphans);
  await fixture.stack.clearDeadLocks();
}

/** Runs `up` and kills it as soon as `look` finds a point, in what has been printed or elsewhere. */
export async function upKilledWhen<Point extends object>(
  stack: Pick<TestStack, "startUp">,
  mode: KillMode,
  look: (output: () => string) => Point | undefined,
  seconds = SECONDS,
): Promise<KilledUp<Point>> {
  const { child, output } = stack.startUp();
  const engine = readProcess(child.pid!);
  const ended = once(child, "exit") as Promise<[number | null]>;
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    if (child.exitCode !== null) return { orphans: [], exitCode: child.exitCode, output: output() };
    const point = look(output);
    if (point && engine) {
      const children = descendants(engine.pid);
      killProcess(engine);
      if (mode === "the whole tree") children.forEach(killProcess);
      const at = Date.now();
      await ended;
      return { killed: { ...point, at }, orphans: children, output: output() };
    }
    if (Date.now() > deadline) {
      if (engine) [engine, ...descendants(engine.pid)].forEach(killProcess);
      throw new Error(`up met no point to be killed at within ${seconds} s:\n${output()}`);
    }
    await pause(LOOK_MILLISECONDS);
  }
}

/** How long a script that was on its way at the moment of the kill may take to arrive. */
const ON_ITS_WAY_MILLISECONDS = 300;
const ORPHAN_SECONDS = 30;

/** Pulumi's language host idles on without its engine, and begins nothing. */
const LANGUAGE_HOST = /^pulumi-language/;

/**
 * Waits until the orphans have ended.
 * @returns the steps that one of them began after the engine's death: there must be none
 */
export async function stepsOfOrphans({ fleet }: SimulatedFixture, up: KilledUp): Promise<string[]> {
  await untilOrphansEnd(up.orphans);
  return fleet.journal
    .filter(({ askedAt }) => isByAnOrphan(up, askedAt))
    .map(({ operation, machine }) => `${operation} ${machine}`);
}

/** Waits until everything that outlived the engine has ended by itself. */
export async function untilOrphansEnd(orphans: ProcessFacts[]): Promise<void> {
  orphans.filter(({ command }) => LANGUAGE_HOST.test(command)).forEach(killProcess);
  await untilEnded(orphans, ORPHAN_SECONDS);
}

/** Whether something that was begun at this time, in milliseconds, was begun after the engine's death. */
export function isByAnOrphan({ killed }: KilledUp<object>, at: number): boolean {
  return killed !== undefined && at > killed.at + ON_ITS_WAY_MILLISECONDS;
}
