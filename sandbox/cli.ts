import { Argument, Command, InvalidArgumentError, Option } from "commander";
import path from "node:path";
import pc from "picocolors";
import { CONTAINERD_MINORS, DEFAULT_KIND, NODE_SYSTEMS, type NodeKind } from "./nodes/node-kinds";
import { listDirt, parseDirt } from "./nodes/dirt";
import { DEFAULT_SYSTEM, findSystem, SYSTEMS, UnknownSystemError } from "./systems";
import type { DesiredSize } from "./systems/system";

const MOST_MACHINES = 9;

/** Parses an integer from one to nine. */
function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MOST_MACHINES) {
    throw new InvalidArgumentError(`It has to be a whole number from 1 to ${MOST_MACHINES}.`);
  }
  return count;
}

function parseControlPlanes(text: string): number {
  const count = parseCount(text);
  if (count % 2 === 0)
    throw new InvalidArgumentError("It has to be odd: an even number survives no more failures.");
  return count;
}

function parseKinds(text: string): string[] {
  try {
    return parseDirt(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** The system's argument, the same for each command that takes one. */
function systemArgument(): Argument {
  const names = SYSTEMS.map((system) => `${system.name}: ${system.summary}`).join("; ");
  return new Argument("[SYSTEM]", names).default(DEFAULT_SYSTEM);
}

/** The options that are not a size. */
interface StartOptions {
  readonly nodes?: NodeKind["system"];
  readonly containerd?: NodeKind["containerd"];
}

async function main(): Promise<void> {
  const program = new Command("npm run")
    .description("The sandbox: real clusters on this machine, with their own state and programs.")
    .showHelpAfterError("(see --help)")
    .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2));

  program
    .command("setup")
    .description("install everything that the sandbox needs on this machine")
    .action(async () => {
      const { SANDBOX_NEEDS, setUp } = await import("./set-up.js");
      await setUp(SANDBOX_NEEDS, await newReporter());
    });

  program
    .command("start")
    .description("set up, run `pulumi up` on the system's sandbox stack, and check the result")
    .addArgument(systemArgument())
    .option("--workers <number>", "workers of the cluster; remembered for the next start", parseCount)
    .option(
      "--control-planes <number>",
      "control planes of the cluster; remembered for the next start",
      parseControlPlanes,
    )
    .option(
      "--dirt <kinds>",
      `of ssh: what new workers have as people's machines do: ${listDirt()}`,
      parseKinds,
    )
    .addOption(
      new Option("--nodes <system>", "of ssh: the operating system of new machines").choices(NODE_SYSTEMS),
    )
    .addOption(
      new Option(
        "--containerd <minor>",
        "of ssh: containerd of new machines, instead of that of their system",
      ).choices(CONTAINERD_MINORS),
    )
    .action(async (name: string, options: DesiredSize & StartOptions) => {
      const system = findSystem(name);
      const { nodes, containerd, ...size } = options;
      const isDefault = nodes === undefined && containerd === undefined;
      const only = { "--dirt": size.dirt, "--nodes": nodes, "--containerd": containerd };
      for (const [option, value] of Object.entries(only))
        if (value !== undefined && system.name !== "ssh")
          program.error(`error: ${option} is an option of the system ssh`);
      const { startSystem } = await import("./start.js");
      await startSystem(
        system,
        { ...size, kind: isDefault ? DEFAULT_KIND : { system: nodes ?? DEFAULT_KIND.system, containerd } },
        await newReporter(),
      );
    });

  program
    .command("stop")
    .description("run `pulumi destroy` on the system's sandbox stack, and remove everything")
    .addArgument(systemArgument())
    .action(async (name: string) => {
      const system = findSystem(name);
      const { stopSystem } = await import("./stop.js");
      await stopSystem(system, await newReporter());
    });

  program
    .command("status")
    .description("show what is running, and the variables for running `pulumi` on it by hand")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) => {
      const { formatStatus, gatherStatus } = await import("./status.js");
      const { cacheFolder } = await import("./toolchain/cache.js");
      const status = await gatherStatus(SYSTEMS, path.join(cacheFolder(), "pulumi-home"));
      console.log(options.json === true ? JSON.stringify(status, undefined, 2) : formatStatus(status));
    });

  await program.parseAsync();
}

async function newReporter() {
  const { createReporter } = await import("./progress.js");
  return createReporter();
}

/** Returns 2 for a wrong command line, 130 after an interrupt, as shells do, else 1. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UnknownSystemError) return 2;
  return error instanceof Error && error.name === "InterruptedError" ? 130 : 1;
}

main().catch((error: unknown) => {
  console.error(pc.red(`foresail: ${error instanceof Error ? error.message : String(error)}`));
  process.exitCode = exitCodeOf(error);
});
