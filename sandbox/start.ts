import pc from "picocolors";
import { Engine } from "./engine";
import type { Reporter } from "./progress";
import { setUp } from "./set-up";
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
  const fixture = await system.start(context, size);
  const engine = await Engine.open(stackOf(system), toolchain, say, system.environment);
  const configuration = system.configure(fixture);
  await writeStackFile(engine.stack, configuration);
  for (const [key, value] of Object.entries(configuration.secrets)) await engine.setSecret(key, value);

  say(pc.bold(`pulumi up on the stack ${engine.stack}`));
  const changes = await engine.up();
  const outputs = await engine.outputs();
  await system.postStart(context, fixture, outputs);
  await system.check(context, fixture, outputs);

  say("");
  say(
    pc.green(
      `The system ${system.name} is running${isUnchanged(changes) ? "; nothing was changed" : ""}. Next:`,
    ),
  );
  for (const command of system.nextCommands(context, outputs)) say(`  ${command}`);
}

/** Returns whether an `up` changed no resource. */
export function isUnchanged(changes: Readonly<Record<string, number>>): boolean {
  return Object.keys(changes).every((word) => word === "unchanged");
}
