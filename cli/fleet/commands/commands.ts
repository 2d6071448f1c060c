import { type Command, Option } from "commander";
import { addOutputOptions, driftOutput, type OutputOptions, outputOf, running } from "../../terminal/command";
import { exitCodesHelp } from "../../terminal/exit-codes";
import type { FleetChangedOptions } from "./changed";
import type { FleetCollectOptions } from "./collect";
import type { FleetDestroyOptions } from "./destroy";
import type { FleetDriftOptions } from "./drift";
import type { FleetExportOptions } from "./export";
import type { OperatorSource } from "../plan/export/operator";
import type { FleetPreviewOptions } from "./preview-command";
import type { FleetWorkerOptions } from "../temporal/worker";
import type { FleetStatusOptions, FleetUpOptions } from "./up";
import type { WaveOptions, WindowOptions } from "./wave-command";

const FLEET_NOTES = `
The first Ctrl-C begins no further stack and pauses those that run; the next one interrupts their engines.
What is done stays done: --continue, or the same --plan again, does the rest.
`;

const DESTROY_NOTES = `
Adopted clusters keep running, and protected resources stop it before anything is touched.
It stops at a failure; the same command does the rest. The stacks stay, empty.
`;

const POLICY_PACK = [
  "--policy-pack <folder>",
  "check each preview by this policy pack; default: as fleet.yaml says",
] as const;

const CHANGED_NOTES = `
A stack is touched when its stack file or its layer has changed. Other files are listed as a note: a change of the
program may change every stack.
`;

interface FleetReportForms extends OutputOptions<"json" | "markdown"> {
  readonly html?: string;
  readonly plans?: true;
}

/** Adds the commands of a fleet: many stacks in waves. */
export function addFleetCommands(program: Command): void {
  const fleet = program
    .command("fleet")
    .description("preview and change many stacks in the waves of fleet.yaml");
  const file = ["--file <file>", "the waves; default: fleet.yaml in the project's folder"] as const;
  fleet
    .command("preview")
    .description("preview all stacks of the fleet; changes nothing")
    .option(...file)
    .option("--save-plan <folder>", "write the plans for `foresail fleet up --plan`")
    .addOption(runner())
    .option(...POLICY_PACK)
    .addHelpText("after", () => exitCodesHelp("fleet preview"))
    .action(running<FleetPreviewOptions>(async () => (await import("./preview-command.js")).fleetPreview));
  const report = fleet
    .command("report")
    .description("print a preview of the fleet for a pull request's comment, or for programs")
    .argument("<folder>", "the folder of `foresail fleet preview --save-plan`")
    .option("--html <file>", "write it as one page with the nodes of each cluster and a timeline")
    .option("--plans", "end the comment with the hash of each plan, for the workflow that applies them")
    .addHelpText("after", () => exitCodesHelp("fleet report"))
    .action(async (folder: string, options: FleetReportForms) => {
      const form = outputOf(options);
      const { fleetReport } = await import("./report.js");
      const { html, plans = false } = options;
      const forms = { ...(form !== undefined && { form }), ...(html !== undefined && { html }) };
      process.exitCode = await fleetReport({ folder, plans, ...forms });
    });
  addOutputOptions(report, "one comment for GitHub, dangers first, or the same as data", [
    "json",
    "markdown",
  ]);
  fleet
    .command("up")
    .description("run the waves, each stack bound to its plan")
    .option(...file)
    .option(
      "--plan <folder>",
      "the plans of `foresail fleet preview --save-plan`; without them, previews and asks",
    )
    .option("--continue", "go on with the last run and its plans")
    .option("--approve <wave...>", "waves whose gate is approved", [])
    .option("--yes", "without plans: do not ask", false)
    .addOption(runner())
    .option(...POLICY_PACK)
    .option("--serve [port]", "show the run as a page on 127.0.0.1 while it runs")
    .addHelpText("after", () => FLEET_NOTES + exitCodesHelp("fleet up"))
    .action(running<FleetUpOptions>(async () => (await import("./up.js")).fleetUp));
  fleet
    .command("drift")
    .description("show on which stacks files on machines differ from what foresail wrote; changes nothing")
    .option(...file)
    .addOption(driftOutput())
    .addHelpText("after", () => exitCodesHelp("fleet drift"))
    .action(running<FleetDriftOptions>(async () => (await import("./drift.js")).fleetDrift));
  fleet
    .command("destroy")
    .description("destroy all stacks, the last wave first; shows what goes and asks for the fleet's name")
    .option(...file)
    .option("--confirm <name>", "the fleet's name, instead of typing it")
    .addHelpText("after", () => DESTROY_NOTES + exitCodesHelp("fleet destroy"))
    .action(running<FleetDestroyOptions>(async () => (await import("./destroy.js")).fleetDestroy));
  fleet
    .command("changed")
    .description("print the stacks whose files or layers a change touches, without the engine")
    .option(...file)
    .option("--since <revision>", "compare the files with where this branch left a commit, branch or tag")
    .option("--paths <file>", "a JSON list of changed files, instead of asking git")
    .addOption(driftOutput())
    .option("--json", "the same as --output json: the stacks of each wave, and the other changed files")
    .addHelpText("after", () => CHANGED_NOTES + exitCodesHelp("fleet changed"))
    .action(running<FleetChangedOptions>(async () => (await import("./changed.js")).fleetChanged));
  fleet
    .command("set")
    .description("write a setting into the files of a set of stacks, for review; touches no stack")
    .command("version")
    .description("write a Kubernetes version into stack files and layers; touches no stack")
    .argument("<version>", "the version, such as 1.36.4")
    .requiredOption("--stacks <pattern...>", "names of stacks, or patterns such as 'prod-*'")
    .addHelpText("after", () => exitCodesHelp("fleet set version"))
    .action(async (version: string, { stacks }: { stacks: readonly string[] }) => {
      const { fleetSetVersion } = await import("./set.js");
      process.exitCode = await fleetSetVersion({ version, stacks });
    });
  addPipelineCommands(fleet, file);
  fleet
    .command("status")
    .description("print how far the last run is")
    .option(...file)
    .addOption(runner())
    .addHelpText("after", () => exitCodesHelp("fleet status"))
    .action(running<FleetStatusOptions>(async () => (await import("./up.js")).fleetStatus));
  addTemporalCommands(fleet, file);
}

const runner = () =>
  new Option(
    "--runner <name>",
    "processes on this machine (local) or workers in the regions (temporal); default: as fleet.yaml says",
  ).choices(["local", "temporal"]);

/** Adds the commands for runs on a Temporal server. */
function addTemporalCommands(fleet: Command, file: readonly [string, string]): void {
  const add = (name: "worker" | "approve" | "pause" | "resume", what: string) =>
    fleet
      .command(name)
      .description(what)
      .option(...file)
      .addHelpText("after", () => exitCodesHelp(`fleet ${name}`));
  add("worker", "work on the stacks of a region for runs in Temporal, until an interrupt")
    .requiredOption("--region <name>", "the region: the label `region` of its stacks")
    .action(running<FleetWorkerOptions>(async () => (await import("../temporal/worker.js")).fleetWorker));
  add("approve", "approve the gate of a wave of the run that is open in Temporal")
    .requiredOption("--wave <name>", "the wave")
    .action(running<WaveOptions>(async () => (await import("../temporal/control.js")).fleetApprove));
  add("pause", "begin no further stack of the run that is open in Temporal").action(
    running<{ file?: string }>(async () => (await import("../temporal/control.js")).fleetPause),
  );
  add("resume", "go on with the run that is paused in Temporal").action(
    running<{ file?: string }>(async () => (await import("../temporal/control.js")).fleetResume),
  );
}

/** Adds the commands that pipelines of others run, and those that write such pipelines. */
function addPipelineCommands(fleet: Command, file: readonly [string, string]): void {
  const wave = ["--wave <name>", "the wave"] as const;
  fleet
    .command("collect")
    .description(
      "put previews that jobs of a pipeline left together, for `foresail fleet report`; reads files only",
    )
    .argument("<folder>", "has review-<stack>/preview.json and plan.json of each preview")
    .requiredOption("--stacks <list>", 'the stacks that were previewed, as JSON: ["prod-eu1"]')
    .requiredOption("--save-plan <folder>", "the folder for the plans and what was found")
    .option(...file)
    .addHelpText("after", () => exitCodesHelp("fleet collect"))
    .action(async (folder: string, options: Omit<FleetCollectOptions, "folder">) => {
      const { fleetCollect } = await import("./collect.js");
      process.exitCode = await fleetCollect({ ...options, folder });
    });
  fleet
    .command("gate")
    .description("check the gate of a wave, for a pipeline that asks for approvals itself")
    .requiredOption(...wave)
    .option(...file)
    .addHelpText("after", () => exitCodesHelp("fleet gate"))
    .action(running<WaveOptions>(async () => (await import("./wave-command.js")).fleetGate));
  fleet
    .command("window")
    .description("check that the window of a wave or stack is open, or wait for it, as fleet.yaml says")
    .requiredOption(...wave)
    .option("--stack <name>", "the stack, in a wave whose stacks have windows of their own")
    .option(...file)
    .addHelpText("after", () => exitCodesHelp("fleet window"))
    .action(running<WindowOptions>(async () => (await import("./wave-command.js")).fleetWindow));
  const exports = fleet
    .command("export")
    .description("write the waves for an engine that others run; reads files only");
  const addExport = (target: "github" | "gitlab" | "operator", what: string, folder: string) =>
    exports
      .command(target)
      .description(what)
      .option(...file)
      .option("--write <folder>", `write them into ${folder}; without it, print them`)
      .option("--check <folder>", "compare them with those in a folder instead")
      .addHelpText("after", () => exitCodesHelp(`fleet export ${target}`));
  addExport(
    "github",
    "workflows for GitHub: previews of pull requests, waves on main, drift at night",
    ".github/workflows",
  ).action(running<FleetExportOptions>(async () => (await import("./export.js")).exportGithub));
  addExport(
    "gitlab",
    "a pipeline for GitLab: previews of merge requests, waves on the default branch, drift at night",
    ".gitlab",
  ).action(running<FleetExportOptions>(async () => (await import("./export.js")).exportGitlab));
  addExport(
    "operator",
    "Stack objects of the Pulumi Kubernetes Operator, each after the wave before; refuses gates and windows",
    "a folder",
  )
    .requiredOption("--repository <address>", "where the operator fetches the project from")
    .requiredOption("--commit <commit>", "the commit to bring the stacks to")
    .requiredOption("--image <image>", "an image with Node.js and Pulumi, which also builds the project")
    .option("--git-secret <name>", "the Secret with which the operator reads the repository")
    .action(
      running<FleetExportOptions & OperatorSource>(async () => (await import("./export.js")).exportOperator),
    );
}
