import { EXIT } from "../../terminal/exit-codes";
import { withPrivateFolder } from "../../engine/private-file";
import { findProject } from "../../engine/pulumi";
import { print } from "../../terminal/terminal";
import { loadFleet } from "../files/load";
import { previewAll, previewHere } from "./preview";
import { withPolicyPack } from "../review/policy";
import { type RunnerName, runnerOf } from "../temporal/server";

export interface FleetPreviewOptions {
  readonly file?: string;
  /** The folder for the plans of `foresail fleet up --plan`. */
  readonly savePlan?: string;
  /** What carries out the previews; default: what fleet.yaml says. */
  readonly runner?: RunnerName;
  /** The policy pack for this machine's previews; default: what fleet.yaml says. */
  readonly policyPack?: string;
}

/** Previews all stacks of a fleet; changes nothing. @returns the exit code: failed when the preview of a stack failed */
export async function fleetPreview(options: FleetPreviewOptions, say = print): Promise<number> {
  const { file, savePlan } = options;
  const project = await findProject();
  const loaded = await loadFleet(project, file);
  const runner = runnerOf(loaded, options.runner);
  const fleet = withPolicyPack(loaded, options.policyPack, runner);
  const server =
    runner === "local"
      ? undefined
      : await (
          await import("../temporal/runner.js")
        ).serverRunner({ project, fleet, file, approved: [], say });
  const preview = (folder: string) =>
    previewAll(project, fleet, folder, say, server?.preview ?? previewHere(project, fleet));
  try {
    if (savePlan === undefined) return await withPrivateFolder(async (folder) => EXIT[await preview(folder)]);
    const end = await preview(savePlan);
    if (end === "done")
      say(`the plans are in ${savePlan}; to do exactly this: foresail fleet up --plan ${savePlan}`);
    return EXIT[end];
  } finally {
    await server?.close();
  }
}
