import { Engine, EngineError } from "./engine";
import type { Reporter } from "./progress";
import { setUp } from "./set-up";
import { recordedStacks } from "./state-file";
import { deleteStackFile } from "./systems/stack-file";
import { stackOf, type System } from "./systems/system";

/**
 * Takes a system down: its resources, its stack, its machines and networks. Works on one that is partly created, whose
 * machines are gone, or that is not running.
 * @throws Error when `pulumi destroy` failed; the machines are deleted anyway
 */
export async function stopSystem(
  system: System,
  report: Reporter,
  say = (line: string) => console.log(line),
): Promise<void> {
  const stack = stackOf(system);
  const recorded = (await recordedStacks()).find((each) => each.name === stack);
  const isStarted = await system.isStarted();

  let failure: EngineError | undefined;
  if (recorded !== undefined) {
    const toolchain = await setUp({ ...system.needs, kubernetes: [], nodes: false }, report);
    const engine = await Engine.open(stack, toolchain, say, system.environment);
    if (recorded.resources > 0 && (await system.isGone())) {
      say("its machines are gone already: only their records are removed");
    } else if (recorded.resources > 0) {
      await system.resume?.({ toolchain, report, say });
      failure = await destroy(engine);
    }
    await system.stop({ report, say });
    // all resources that are still in the state were on the machines that were just deleted
    await engine.remove({ force: true });
  } else {
    await system.stop({ report, say });
  }
  await deleteStackFile(stack);
  if (failure !== undefined) {
    throw new Error(`${failure.message}\nThe machines and the stack ${stack} were deleted anyway.`);
  }
  const isNothing = recorded === undefined && !isStarted;
  say(isNothing ? `Nothing of the system ${system.name} runs.` : `The system ${system.name} is down.`);
}

async function destroy(engine: Engine): Promise<EngineError | undefined> {
  try {
    await engine.destroy();
    return undefined;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}
