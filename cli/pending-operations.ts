import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ExportedStack, judgePendingOperations } from "../lib/pulumi/state";
import type { FileBackendStack } from "../lib/pulumi/backend-lock";
import { withPrivateFolder, writePrivately } from "./private-file";
import { callPulumi, PulumiError } from "./pulumi";

/**
 * Clears what killed runs left pending in a stack of a file backend, if all of it is safe to forget: these creates
 * check what exists first, so the next run finds their outcome. Only for a stack that is not locked, whose engine is
 * therefore gone.
 *
 * @param folder the folder in which to call `pulumi`
 * @returns message lines; none when nothing is pending
 */
export async function clearPendingOperations(target: FileBackendStack, folder: string): Promise<string[]> {
  if (!(await mayHavePending(target))) return [];
  const { project, stack } = target;
  const call = (...args: string[]) =>
    callPulumi({
      project: { folder, name: project },
      args: [...args, "--stack", `organization/${project}/${stack}`],
    });
  try {
    const exported = (await call("stack", "export")).stdout;
    const { resumable, others } = judgePendingOperations(JSON.parse(exported) as ExportedStack);
    const found = resumable.length + others.length;
    if (found === 0) return [];
    const words = `${found} pending operation${found === 1 ? "" : "s"} of ${stack}`;
    if (others.length > 0)
      return [
        `kept ${words}, since nobody knows what came of ${others.join(", ")}: ` +
          `look whether it exists, then run pulumi refresh --stack ${stack}`,
      ];
    await withPrivateFolder(async (folder) => {
      const file = path.join(folder, "stack.json");
      await writePrivately(file, exported);
      // the import forgets every pending operation, so it needs all of them to be resumable
      await call("stack", "import", "--file", file);
    });
    return [`cleared ${words} from a killed run: ${resumable.join(", ")}; the next run continues them`];
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    return [`the pending operations of ${stack} stay, which harms nothing: ${error.message}`];
  }
}

/** Checks the state's file, since calling the engine takes a second. Does not decompress a compressed file. */
async function mayHavePending({ stateFolder, project, stack }: FileBackendStack): Promise<boolean> {
  const file = path.join(stateFolder, ".pulumi", "stacks", project, `${stack}.json`);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text !== undefined) return text.includes('"pending_operations"');
  return readFile(`${file}.gz`).then(
    () => true,
    () => false,
  );
}
