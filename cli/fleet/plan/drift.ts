import { plural } from "../../../lib/text/plural";

/** What `foresail drift` said about a machine: the files that others changed, or why that is not known. */
export interface MachineDrift {
  readonly node: string;
  readonly files?: readonly { readonly path: string; readonly difference: string }[];
  readonly unknown?: string;
}

/** What is known about the drift of a stack; a failure has the last lines of its command. */
export type StackDrift =
  { readonly machines: readonly MachineDrift[] } | { readonly failure: readonly string[] };

const machinesOf = (stack: StackDrift) => ("machines" in stack ? stack.machines : []);
const filesOf = (machines: readonly MachineDrift[]) => machines.flatMap(({ files = [] }) => files);
const unreadOf = (machines: readonly MachineDrift[]) =>
  machines.filter(({ unknown }) => unknown !== undefined);

/** Returns the words for a stack in the table. */
export function driftWords(stack: StackDrift): string {
  if ("failure" in stack) return "failed";
  const { machines } = stack;
  if (machines.length === 0) return "no machines of its own";
  const drifted = machines.filter(({ files = [] }) => files.length > 0).length;
  const files = filesOf(machines).length;
  const unread = unreadOf(machines).length;
  const found = [
    ...(files > 0 ? [`${plural(files, "file")} on ${plural(drifted, "machine")}`] : []),
    ...(unread > 0 ? [`${unread} of ${plural(machines.length, "machine")} not read`] : []),
  ];
  return found.length > 0 ? found.join("; ") : `none on ${plural(machines.length, "machine")}`;
}

/** Returns a line for each file that differs, each machine that was not read, and of a failure. */
export function driftDetails(stack: StackDrift): string[] {
  if ("failure" in stack) return [...stack.failure];
  return stack.machines.flatMap(({ node, files = [], unknown }) => [
    ...files.map(({ path, difference }) => `${node}: ${path} (${difference})`),
    ...(unknown === undefined ? [] : [`${node}: not read: ${unknown}`]),
  ]);
}

/** Returns how a look at all stacks ended: drift of one is worse than a stack, or a machine, that could not be read. */
export function driftEnd(stacks: readonly StackDrift[]): "done" | "drifted" | "failed" | "unknown" {
  const machines = stacks.flatMap(machinesOf);
  if (filesOf(machines).length > 0) return "drifted";
  if (stacks.some((stack) => "failure" in stack)) return "failed";
  return unreadOf(machines).length > 0 ? "unknown" : "done";
}
