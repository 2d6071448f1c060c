import { findStateFolder, NotAFileBackendError } from "./backend";
import { clearDeadLocks } from "./lock";
import type { Project } from "./project";

/**
 * Clears what a dead `pulumi` left on a stack of a file backend; another backend knows best by itself.
 * @returns a line for each thing that was cleared
 * @throws StackLockedError while somebody else works on it
 */
export async function clearIfFileBackend(project: Project, stack: string): Promise<string[]> {
  let stateFolder: string;
  try {
    stateFolder = await findStateFolder(stack);
  } catch (error) {
    if (error instanceof NotAFileBackendError) return [];
    throw error;
  }
  return clearDeadLocks({ stateFolder, project: project.name, stack });
}
