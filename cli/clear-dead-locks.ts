import { findStateFolder, NotAFileBackendError } from "./backend";
import type { FileBackendStack } from "../lib/pulumi/backend-lock";
import { clearDeadLocks } from "./lock";
import { clearPendingOperations } from "./pending-operations";
import type { Project } from "./project";

/**
 * Clears what a dead `pulumi` left on a stack of a file backend; does nothing for other backends.
 *
 * @returns a line for each thing that was cleared
 * @throws StackLockedError while another process works on it
 */
export async function clearIfFileBackend(project: Project, stack: string): Promise<string[]> {
  const target = await fileBackendOf(project, stack);
  return target === undefined ? [] : clearDeadLocks(target);
}

/**
 * Like clearIfFileBackend, and also clears pending operations of killed runs that are safe to forget.
 *
 * @returns a line for each thing that was cleared
 * @throws StackLockedError while another process works on it
 */
export async function clearKilledRuns(project: Project, stack: string): Promise<string[]> {
  const target = await fileBackendOf(project, stack);
  if (target === undefined) return [];
  const cleared = await clearDeadLocks(target);
  return [...cleared, ...(await clearPendingOperations(target, project.folder))];
}

async function fileBackendOf(project: Project, stack: string): Promise<FileBackendStack | undefined> {
  try {
    return { stateFolder: await findStateFolder(stack), project: project.name, stack };
  } catch (error) {
    if (error instanceof NotAFileBackendError) return undefined;
    throw error;
  }
}
