#!/usr/bin/env node
import { Argument, Command } from "commander";
import { pageOf } from "../lib/pages";
import { addBundleCommands } from "./bundle-commands";
import { addBackupCommands, addClusterCommands, addRestoreCommand } from "./cluster-commands";
import {
  addCommand,
  addOutputOptions,
  driftOutput,
  type OutputOptions,
  outputOf,
  running,
  STACK,
} from "./terminal/command";
import { CommandError, EXIT, exitCodesHelp, UsageError } from "./terminal/exit-codes";
import { addFleetCommands } from "./fleet/commands/commands";
import { type Shell, SHELLS } from "./manual/completion";
import { addGlobalOptions, describeError } from "./terminal/global-options";
import { printError } from "./terminal/terminal";
import type { AdoptOptions } from "./commands/adopt";
import type { ConfigShowOptions } from "./commands/config-show";
import type { DoctorOptions } from "./commands/doctor";
import type { DriftOptions } from "./commands/drift";
import type { DestroyStackOptions } from "./commands/destroy-stack";
import type { InitOptions } from "./commands/init";
import type { PlanOptions, PlanOutput } from "./commands/plan";
import type { PreviewOptions } from "./commands/preview";
import type { ReleaseOptions } from "./commands/release";
import type { UnlockOptions } from "./commands/unlock";
import type { UpOptions } from "./commands/up";
import { displayWarnings } from "../lib/text/warnings";

const KUBECONFIG = [
  "--kubeconfig <file>",
  "the cluster's kubeconfig; default: KUBECONFIG, or ~/.kube/config; read permissions are enough",
] as const;

const MONITOR_NOTES = `
The monitor is optional: an up compares the services, too. It may be started, stopped and killed at any time.
`;

/** Adds the command monitor, which keeps a cluster's services in sync between runs. */
function addMonitorCommand(program: Command): void {
  addCommand(program, "monitor", MONITOR_NOTES)
    .description("keep the services of a cluster through Azimuth up to date until it is interrupted")
    .option(...STACK)
    .action(running<{ stack?: string }>(async () => (await import("./commands/monitor.js")).monitor));
}

/** Adds the command plan, which forecasts a rollout with read access alone. */
function addPlanCommand(program: Command): void {
  const command = addCommand(program, "plan")
    .description("forecast a version rollout of any kubeadm cluster; only reads it")
    .option(...KUBECONFIG)
    .requiredOption("--to <version>", "the Kubernetes version to reach, e.g. 1.36.3")
    .option("--context <name>", "a context of the kubeconfig; its current one without it")
    .option(
      "--via <version...>",
      "versions to stop at between minors, instead of the latest known patches",
      [],
    )
    .option(
      "--max-unavailable <number>",
      "how many workers of a pool may be unavailable at once: a number, or a percentage such as 25%",
      "1",
    )
    .option("--force", "count pods without a controller as losses, not as blockers", false)
    .option("--delete-emptydir-data", "count the data in emptyDir volumes as lost, not as blockers", false)
    .action(
      running<PlanOptions & OutputOptions<PlanOutput>>(async () => {
        const { plan } = await import("./commands/plan.js");
        return (options) => plan({ ...options, output: outputOf(options) ?? "text" });
      }),
    );
  addOutputOptions(command, "for a terminal (text), for programs or for a pull request", [
    "text",
    "json",
    "markdown",
  ]);
}

const ADOPT_NOTES = `
It only reads the cluster and its machines. It pins the host keys that the machines present: compare them before the first up.
`;

/** Adds the command adopt, which writes the stack file for a cluster that exists. */
function addAdoptCommand(program: Command): void {
  addCommand(program, "adopt", ADOPT_NOTES)
    .description(
      "write the stack file for a kubeadm cluster that foresail did not make; changes nothing else",
    )
    .option(...KUBECONFIG)
    .option("--context <name>", "a context of the kubeconfig; its current one without it")
    .requiredOption(
      "--ssh <user>",
      "the user that logs in on the machines: root, or one that may sudo without a password",
    )
    .option("--key <file>", "the private key; without it, the SSH agent's keys")
    .option(
      "--address <node=address...>",
      "where SSH of a Node's machine answers, if not at its internal address",
      [],
    )
    .requiredOption("--write <file>", "the stack file to write, stacks/config/Pulumi.<stack>.yaml")
    .action(running<AdoptOptions>(async () => (await import("./commands/adopt.js")).adopt));
}

const INIT_NOTES = `
It writes package.json, Pulumi.yaml and stacks/config/Pulumi.<stack>.yaml, and overwrites none of them. On a terminal it asks for what is missing.
`;

/** Adds the command init, which makes a folder of stack files. */
function addInitCommand(program: Command): void {
  addCommand(program, "init", INIT_NOTES)
    .description("make a folder of stack files for a cluster on machines that exist")
    .option("--stack <name>", "the name of the stack, and of its cluster")
    .option("--kubernetes <version>", "the version of Kubernetes, e.g. 1.36.3")
    .option("--control-plane <address...>", "where SSH of the control planes answers")
    .option("--worker <address...>", "where SSH of the workers answers")
    .option("--user <name>", "the user that logs in: root, or one that may sudo without a password")
    .option(
      "--from <file>",
      "a list of machines (NAME [USER@]ADDRESS[:PORT] control-plane|worker), an inventory of kubespray, k0sctl.yaml or kubeone.yaml",
    )
    .option("--no-check", "do not read the host keys of the machines")
    .action(running<InitOptions>(async () => (await import("./commands/init.js")).init));
}

const DOCTOR_NOTES = `
It only reads. Without --stack and machines it looks at the tools here. The checks are those of a first preview (${pageOf("preflight")}).
`;

/** Adds the command doctor, which reads machines before there is a stack. */
function addDoctorCommand(program: Command): void {
  addCommand(program, "doctor", DOCTOR_NOTES)
    .description("check the tools here, and machines that will become nodes; changes nothing")
    .option("--stack <name>", "the machines of this stack, with its keys, jump host, proxy and registries")
    .option("--machines <file>", "YAML: a list of machines (name, address, role, user), or a stack file")
    .option("--ssh <user@host...>", "machines that will be control planes: USER@HOST or USER@HOST:PORT", [])
    .option("--worker <user@host...>", "machines that will be workers", [])
    .option("--key <file>", "the private key; without it, the SSH agent's keys")
    .option("--to <version>", "the Kubernetes version; the newest one that this release knows without it")
    .addOption(driftOutput())
    .action(running<DoctorOptions>(async () => (await import("./commands/doctor.js")).doctor));
}

const RELEASE_NOTES = `
Only for a cluster that the stack adopted (cluster.adopt). It asks before it changes anything.
`;

/** Adds the command release, which gives an adopted cluster back. */
function addReleaseCommand(program: Command): void {
  addCommand(program, "release", RELEASE_NOTES)
    .description(
      "give an adopted cluster back: node agents and foresail's marks go, the cluster keeps running",
    )
    .option(...STACK)
    .option("--yes", "do not ask", false)
    .action(running<ReleaseOptions>(async () => (await import("./commands/release.js")).release));
}

const DRIFT_NOTES = `
It reads the machines over SSH, with the credentials in the stack's state, and changes nothing unless --accept is given.
`;

/** Adds the command drift, which shows what others changed on the machines. */
function addDriftCommand(program: Command): void {
  addCommand(program, "drift", DRIFT_NOTES)
    .description("show which files on the machines differ from what foresail wrote, with diffs")
    .option(...STACK)
    .option("--accept <node:path...>", "take these files as they are on the machine, and show nothing", [])
    .addOption(driftOutput())
    .action(running<DriftOptions>(async () => (await import("./commands/drift.js")).drift));
}

interface ReportOptions extends OutputOptions<"json" | "markdown"> {
  readonly stack?: string;
}

const POLICY_PACK = [
  "--policy-pack <folder>",
  "check the stack by a policy pack, such as foresail's own: policy",
] as const;
const POLICY_PACK_CONFIG = [
  "--policy-pack-config <file>",
  "the pack's parameters and enforcement levels (JSON)",
] as const;

const UP_NOTES = `
With --plan only what the plan holds runs. After a run that was killed, the same command does the rest of it.
Ctrl-C finishes the current node of a rollout and pauses; a second Ctrl-C interrupts the engine.
`;

/** Adds the commands preview, up and report: only what was reviewed runs. */
function addReviewCommands(program: Command): void {
  addCommand(program, "preview")
    .description("show every step that an up would take, and keep it for review; changes nothing")
    .option(...STACK)
    .option("--save-plan <file>", "write the plan for `foresail up --plan` (0600; its secrets are encrypted)")
    .option(...POLICY_PACK)
    .option(...POLICY_PACK_CONFIG)
    .option("--json <file>", "write the engine's output for `foresail report` (0600; its secrets are masked)")
    .action(running<PreviewOptions>(async () => (await import("./commands/preview.js")).preview));
  addCommand(program, "up", UP_NOTES)
    .description("do what was reviewed, and nothing else")
    .option(...STACK)
    .option(
      "--plan <file>",
      "a plan of `foresail preview --save-plan`; without it, the preview is shown and asked about",
    )
    .option("--yes", "without a plan: do not ask", false)
    .option(...POLICY_PACK)
    .option(...POLICY_PACK_CONFIG)
    .action(running<UpOptions>(async () => (await import("./commands/up.js")).up));
  const report = addCommand(program, "report")
    .description("print a preview for a pull request's comment, or for programs")
    .argument(
      "<preview>",
      "what `foresail preview --json` or `pulumi preview --json` wrote; - for standard input",
    )
    .option("--stack <name>", "the stack, for a preview that failed before the engine named it")
    .action(async (file: string, { stack, ...options }: ReportOptions) => {
      const form = outputOf(options);
      if (form === undefined) throw new UsageError("give --output markdown or --output json");
      const { reportPreview } = await import("./commands/preview.js");
      await reportPreview({ file, form, ...(stack !== undefined && { stack }) });
    });
  addOutputOptions(report, "a comment for GitHub, dangers first, or the same as data", ["json", "markdown"]);
}

/** Adds the command config show, which prints a stack's configuration merged over its layer. */
function addConfigCommand(program: Command): void {
  program
    .command("config")
    .description("commands about the configuration of a stack")
    .command("show")
    .description("print the configuration of a stack, merged over its layer, with the file of each value")
    .option(...STACK)
    .addOption(driftOutput())
    .option("--json", "the same as --output json: a list of {path, value, file}")
    .addHelpText("after", () => exitCodesHelp("config show"))
    .action(running<ConfigShowOptions>(async () => (await import("./commands/config-show.js")).configShow));
}

/** Adds the command by which a run of a fleet destroys one stack. Users do not call it. */
function addDestroyStackCommand(program: Command): void {
  program
    .command("destroy-stack", { hidden: true })
    .requiredOption("--stack <name>")
    .requiredOption("--plan <file>")
    .action(
      running<DestroyStackOptions>(async () => (await import("./commands/destroy-stack.js")).destroyStack),
    );
}

const COMPLETION_NOTES = `
  bash: source <(foresail completion bash)
  zsh:  source <(foresail completion zsh)
  fish: foresail completion fish | source
`;

/** Adds the commands that print what shells and man(1) know about the commands. */
function addManualCommands(program: Command): void {
  addCommand(program, "completion", COMPLETION_NOTES)
    .description("print the script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action(async (shell: Shell) => {
      process.exitCode = (await import("./commands/completion.js")).completion(program, shell);
    });
  addCommand(program, "man")
    .description("print the manual page: foresail man | man -l -")
    .action(async () => {
      process.exitCode = (await import("./commands/completion.js")).man(program);
    });
}

/** The command `foresail`. */
async function main(): Promise<void> {
  displayWarnings();
  const program = new Command("foresail")
    .description("Kubernetes clusters that you can preview")
    .showHelpAfterError("(--help tells more)")
    .exitOverride((end) => process.exit(end.exitCode === 0 ? EXIT.done : EXIT.usage));
  addGlobalOptions(program);
  addCommand(program, "unlock")
    .description("clear the lock that a killed `pulumi` left on a stack: in a folder, a bucket or a database")
    .requiredOption("--stack <name>", "the stack that is locked")
    .option("--project <name>", "the Pulumi project of the stack", "foresail")
    .option("--yes", "clear a lock of another host without asking", false)
    .action(running<UnlockOptions>(async () => (await import("./commands/unlock.js")).unlock));
  addPlanCommand(program);
  addReviewCommands(program);
  addInitCommand(program);
  addDoctorCommand(program);
  addAdoptCommand(program);
  addReleaseCommand(program);
  addDriftCommand(program);
  addClusterCommands(program);
  addBackupCommands(program);
  addRestoreCommand(program);
  addBundleCommands(program);
  addMonitorCommand(program);
  addConfigCommand(program);
  addFleetCommands(program);
  addDestroyStackCommand(program);
  addManualCommands(program);
  await program.parseAsync();
}

main().catch((error: unknown) => {
  printError(`foresail: ${describeError(error)}`);
  process.exitCode = EXIT[error instanceof CommandError ? error.exit : "failed"];
});
