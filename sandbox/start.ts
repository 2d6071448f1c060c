import pc from "picocolors";
import { Engine } from "./engine";
import type { Reporter } from "./progress";
import { setUp } from "./set-up";
import { recordedResources } from "./state-file";
import { writeStackFile } from "./systems/stack-file";
import { stackOf, type DesiredSize, type System } from "./systems/system";

/**
 * Brings a system up on this machine and verifies that it works. Another run changes nothing.
 * @throws Error when any part fails; what was created so far is kept, and the next start continues from there
 */
export async function startSystem(
  system: System,
  size: DesiredSize,
  report: Reporter,
  say = (line: string) => console.log(line),
): Promise<void> {
  const toolchain = await setUp(system.needs, report);
  const context = { toolchain, report, say };
  const stack = stackOf(system);
  const isThere = (await recordedResources(stack)) > 0;
  const start = () => system.start(context, size);
  const open = () => Engine.open(stack, toolchain, say, system.environment);
  // each takes a second; a new stack's file is not read while the engine writes it
  const [fixture, engine] = isThere ? await Promise.all([start(), open()]) : [await start(), await open()];
  const configuration = system.configure(fixture);
  await writeStackFile(stack, configuration);
  for (const [key, value] of Object.entries(configuration.secrets)) await engine.setSecret(key, value);

  say(pc.bold(`pulumi up on the stack ${stack}`));
  const { outputs, isChanged } = await apply(engine, isThere);
  await system.postStart(context, fixture, outputs);
  await system.check(context, fixture, outputs);

  say("");
  say(pc.green(`The system ${system.name} is running${isChanged ? "" : "; nothing was changed"}. Next:`));
  for (const command of system.nextCommands(context, outputs)) say(`  ${command}`);
}

interface Applied {
  readonly outputs: Record<string, unknown>;
  readonly isChanged: boolean;
}

/** Brings a stack to its configuration. One that is there is previewed by itself, and nothing else runs if nothing differs. */
async function apply(engine: Engine, isThere: boolean): Promise<Applied> {
  if (isThere) {
    const [isUnchanged, outputs] = await Promise.all([engine.preview(), engine.outputs()]);
    if (isUnchanged) return { outputs, isChanged: false };
    await engine.up({ isPreviewed: true });
  } else await engine.up();
  return { outputs: await engine.outputs(), isChanged: true };
}
