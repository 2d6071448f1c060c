import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { projectName, stateFolder } from "./paths";

/** A stack as stored by the file backend. */
interface RecordedStack {
  readonly name: string;
  readonly resources: number;
}

interface Checkpoint {
  readonly checkpoint?: { readonly latest?: { readonly resources?: readonly RecordedResource[] } };
}

interface RecordedResource {
  readonly type?: string;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

const stacksFolder = path.join(stateFolder, ".pulumi", "stacks", projectName);

/** Lists the sandbox's stacks directly from the state, without the engine: fast, and possible before any set-up. */
export async function recordedStacks(folder = stacksFolder): Promise<RecordedStack[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const stacks = names.filter((name) => name.endsWith(".json")).sort();
  return Promise.all(
    stacks.map(async (file) => {
      const text = await readFile(path.join(folder, file), "utf8");
      return { name: file.slice(0, -".json".length), resources: countResources(text) };
    }),
  );
}

/** Returns the number of resources in a stack's state; -1 when there is no such stack. */
export async function recordedResources(stack: string): Promise<number> {
  return (await recordedStacks()).find((each) => each.name === stack)?.resources ?? -1;
}

/** Returns the outputs in a stack's state, with encrypted secrets; undefined when there is no such stack. */
export async function recordedOutputs(
  stack: string,
  folder = stacksFolder,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFile(path.join(folder, `${stack}.json`), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const resources = (JSON.parse(text) as Checkpoint).checkpoint?.latest?.resources ?? [];
  return resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs ?? {};
}

/** Counts the resources in a checkpoint; the engine's own entries (the stack, default providers) count too. */
export function countResources(checkpoint: string): number {
  return (JSON.parse(checkpoint) as Checkpoint).checkpoint?.latest?.resources?.length ?? 0;
}
