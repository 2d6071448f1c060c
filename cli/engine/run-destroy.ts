import { EXIT } from "../terminal/exit-codes";
import { PARALLEL_ARGUMENTS, type Project, startPulumi } from "./pulumi";
import { sayIfLocked } from "./remote-lock";
import { onInterrupts } from "../terminal/terminal";

/** Runs the engine's destroy. @returns the exit code: done, failed, locked or interrupted */
export async function runDestroy(project: Project, stack: string): Promise<number> {
  const args = ["destroy", "--stack", stack, "--yes", "--skip-preview", "--suppress-progress"];
  const { child, ended } = startPulumi({
    project,
    args: [...args, ...PARALLEL_ARGUMENTS],
    passThrough: true,
  });
  let isInterrupted = false;
  const forget = onInterrupts(() => {
    isInterrupted = true;
    child.kill("SIGINT");
  });
  try {
    const { exitCode, stdout, stderr } = await ended;
    if (exitCode === 0) return EXIT.done;
    if (sayIfLocked(stdout + stderr, stack)) return EXIT.locked;
    return isInterrupted ? EXIT.interrupted : EXIT.failed;
  } finally {
    forget();
  }
}
