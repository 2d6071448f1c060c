import { messageOf } from "../../lib/error-message";
import { atOnce } from "../../lib/process/at-once";
import { displayJson, displayLine } from "../../lib/text/display";
import { groupedDiffs, unifiedDiff } from "../../lib/text/unified-diff";
import { acceptDrift, readDrift } from "../../providers/kubeadm/client/drift";
import type { MachineAccess } from "../../providers/kubeadm/client/machine-access";
import type { DriftAnswer, DriftedFile } from "../../providers/kubeadm/plan/drift/drift";
import type { Machine } from "../../providers/kubeadm/plan/cluster/machine";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { machinesInState } from "../engine/machines-in-state";
import { exportStack } from "../engine/pulumi";
import { colorsOf, print } from "../terminal/terminal";

export interface DriftOptions {
  readonly stack?: string;
  /** "NODE:PATH" of the files to take as they are. */
  readonly accept: readonly string[];
  readonly output: "text" | "json";
}

/** Time limit for a machine to answer. */
const SECONDS = 20;
/** Time limit for a machine that takes a file as it is: another step may run on it. */
const ACCEPT_SECONDS = 60;
const AT_ONCE = 20;

/** A machine, with what others changed on it or why that is not known. */
type MachineDrift = { readonly node: string } & (
  { readonly files: readonly DriftedFile[] } | { readonly unknown: string }
);

/**
 * Prints what others changed in the files that foresail wrote on the machines of a stack, or takes files as they are.
 * Reads the machines over SSH, as the stack's state says.
 *
 * @returns the exit code: `drifted` if a file differs, else `unknown` if a machine could not be read
 */
export async function drift(options: DriftOptions, say = print): Promise<number> {
  const accepted = options.accept.map(acceptedFile);
  const inState = machinesInState((await exportStack(options.stack, "--show-secrets")).exported);
  if (inState === undefined) return endWithoutMachines(options, say);
  const { machines, ...access } = inState;
  if (accepted.length > 0) {
    const chosen = accepted.map(({ node, file }) => ({ file, machine: named(machines, node) }));
    for (const { file, machine } of chosen) {
      await acceptDrift({ ...access, seconds: ACCEPT_SECONDS }, machine, file);
      say(`${machine.name}: ${file} is accepted as it is`);
    }
    return EXIT.done;
  }
  const found = await readAll({ ...access, seconds: SECONDS }, machines);
  if (options.output === "json") say(displayJson({ machines: asData(found) }));
  else for (const line of asText(found)) say(line);
  if (found.some((machine) => "files" in machine && machine.files.length > 0)) return EXIT.drifted;
  return found.some((machine) => "unknown" in machine) ? EXIT.unknown : EXIT.done;
}

/** For a stack of a system whose machines foresail does not enter. */
function endWithoutMachines({ accept, output }: DriftOptions, say: (text: string) => void): number {
  const why = "Cluster API manages the machines of this stack; foresail writes no files on them";
  if (accept.length > 0) throw new UsageError(`--accept ${accept[0]}: ${why}`);
  say(output === "json" ? displayJson({ machines: [] }) : why);
  return EXIT.done;
}

function acceptedFile(text: string): { node: string; file: string } {
  const [, node, file] = /^([^:/]+):(\/.+)$/.exec(text) ?? [];
  if (node === undefined || file === undefined)
    throw new UsageError(`--accept ${text}: it has to be NODE:PATH, such as w-1:/etc/motd`);
  return { node, file };
}

function named(machines: readonly Machine[], node: string): Machine {
  const machine = machines.find(({ name }) => name === node);
  if (machine === undefined) throw new UsageError(`--accept ${node}: the stack has no such machine`);
  return machine;
}

const readAll = (access: MachineAccess, machines: readonly Machine[]): Promise<MachineDrift[]> =>
  atOnce(AT_ONCE, machines, async (machine) => {
    const answer = await readDrift(access, machine).catch((error: unknown) => ({ why: messageOf(error) }));
    return { node: machine.name, ...("why" in answer ? { unknown: answer.why } : described(answer)) };
  });

function described(answer: DriftAnswer) {
  if ("files" in answer) return answer;
  return {
    unknown:
      answer.unknown === "at work"
        ? "its node agent changes the machine now; try again when it has ended"
        : "its node agent does not look for drift yet; set `cluster.drift`, or wait for the next change of a version or setting",
  };
}

/** How many files of all machines have a diff in the data. */
const MOST_DIFFS = 200;

function asData(found: readonly MachineDrift[]) {
  let count = 0;
  const diffOf = (file: DriftedFile) =>
    ++count > MOST_DIFFS ? "not shown: too many files differ" : unifiedDiff(file).join("\n");
  return found.map((machine) =>
    "unknown" in machine
      ? { node: machine.node, unknown: displayLine(machine.unknown) }
      : {
          node: machine.node,
          files: machine.files.map((file) => ({
            path: file.path,
            difference: file.kind,
            diff: diffOf(file),
          })),
        },
  );
}

/** Words for the differences. */
const WORDS: Readonly<Record<DriftedFile["kind"], string>> = {
  changed: "changed",
  added: "added",
  removed: "removed",
  access: "mode or owner",
};

function asText(found: readonly MachineDrift[]): string[] {
  const drifted = found.flatMap((machine) =>
    "files" in machine && machine.files.length > 0 ? [machine] : [],
  );
  const unknown = found.flatMap((machine) => ("unknown" in machine ? [machine] : []));
  const rows = drifted.flatMap(({ node, files }) =>
    files.map(({ path, kind }) => [node, WORDS[kind], path] as const),
  );
  const read = found.length - unknown.length;
  return [
    ...(rows.length > 0 ? table([["MACHINE", "DIFFERENCE", "FILE"], ...rows]) : []),
    ...(rows.length > 0 ? ["", ...groupedDiffs(drifted), ""] : []),
    ...unknown.map(({ node, unknown: why }) => `${node}: ${displayLine(why)}`),
    rows.length > 0
      ? `${rows.length === 1 ? "1 file differs" : `${rows.length} files differ`} from what foresail wrote`
      : `${read} of ${found.length} machines read, nothing differs from what foresail wrote`,
  ];
}

function table(rows: readonly (readonly [string, string, string])[]): string[] {
  const { bold } = colorsOf(process.stdout);
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  return rows.map(([one, other, last], at) => {
    const line = `${one.padEnd(width(0))}  ${other.padEnd(width(1))}  ${last}`;
    return at === 0 ? bold(line) : line;
  });
}
