import * as pulumi from "@pulumi/pulumi";
import { displayText } from "../text/display";
import { isDeepStrictEqual } from "node:util";
import { differingPaths } from "../differences";
import { isKnownList } from "../unknown";
import { type ConfigurationPath, formatPath } from "../validation/validation-issue";

/**
 * Prints what an update records for later runs when the resource has no steps, so that every changed resource has a
 * line.
 *
 * @param olds the recorded inputs; empty for a new resource
 * @param keys names of inputs that the resource records
 */
export function reportRecorded<Inputs extends { steps?: string[] }>(
  resource: string,
  olds: Partial<Inputs>,
  news: Inputs,
  keys: readonly (keyof Inputs & string)[],
): void {
  if (Object.keys(olds).length === 0 || (news.steps ?? []).length > 0) return;
  for (const line of describeRecorded(olds, news, keys)) report(resource, line);
}

/** Prints one line of progress; the engine shows it among the resource's messages. */
export function report(resource: string, line: string): void {
  console.log(displayText(`${resource}: ${line}`));
}

/** Warns in a program, also of what a cluster or a cloud answered. */
export async function warn(message: string, resource?: pulumi.Resource): Promise<void> {
  await pulumi.log.warn(displayText(message), resource);
}

/** Prints a remark of a program, also on what a cluster or a cloud answered; nothing where no engine runs the program. */
export async function inform(message: string, resource?: pulumi.Resource): Promise<void> {
  if (pulumi.runtime.hasEngine()) await pulumi.log.info(displayText(message), resource);
}

/** Inputs that have another name in the configuration. */
const WRITTEN_AS: Readonly<Record<string, ConfigurationPath>> = {
  specification: ["cluster"],
  rollout: ["cluster", "rollout"],
  lost: ["cluster", "lost"],
  jumpHost: ["cluster", "ssh", "jumpHost"],
};

interface Named {
  readonly name: string;
}

/**
 * Returns the preview lines for an update that changes nothing remote: what it records for later runs, per machine.
 * Empty when nothing differs. The lines contain no values.
 *
 * @param keys names of inputs that the resource records
 */
export function describeRecorded<Inputs extends object>(
  olds: Partial<Inputs>,
  news: Inputs,
  keys: readonly (keyof Inputs & string)[],
): string[] {
  const fields = keys
    .filter((key) => key !== "machines" && !isDeepStrictEqual(olds[key], news[key]))
    .flatMap((key) => writtenFields(key, olds[key], news[key]));
  const machines = keys.some((key) => key === "machines") ? machineLines(olds, news) : [];
  return [...machines, ...(fields.length > 0 ? [`recorded: ${fields.join(", ")}`] : [])];
}

/** Returns the paths that differ within an object, or only the name for other inputs. */
function writtenFields(key: string, before: unknown, after: unknown): string[] {
  const written = WRITTEN_AS[key];
  if (written === undefined) return [key];
  const paths = Array.isArray(after) ? [] : differingPaths(before, after);
  return paths.length > 0 ? paths.map((path) => formatPath([...written, ...path])) : [formatPath(written)];
}

function machinesOf(inputs: object): readonly Named[] {
  const { machines } = inputs as { machines?: readonly Named[] };
  return isKnownList(machines) ? (machines ?? []) : [];
}

function machineLines(olds: object, news: object): string[] {
  const earlier = new Map(machinesOf(olds).map((machine) => [machine.name, machine]));
  const lines = machinesOf(news).flatMap((machine) => {
    const had = earlier.get(machine.name);
    earlier.delete(machine.name);
    if (!had) return [`${machine.name}: recorded: it is configured now`];
    if (isDeepStrictEqual(had, machine)) return [];
    const fields = differingPaths(had, machine).map((path) => formatPath(path.slice(0, 1)));
    return [`${machine.name}: recorded: ${[...new Set(fields)].join(", ") || "what the run will know"}`];
  });
  return [...lines, ...[...earlier.keys()].map((name) => `${name}: recorded: it is no longer configured`)];
}
