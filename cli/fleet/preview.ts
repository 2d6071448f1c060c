import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileFault } from "../../lib/files";
import { findDangers } from "../review/dangers";
import { readPreview } from "../review/preview";
import { countSteps } from "../review/steps";
import { plural } from "../../lib/text/plural";
import { EXIT } from "../exit-codes";
import { withPrivateFolder } from "../private-file";
import { findProject, type Project } from "../pulumi";
import { onInterrupts, print } from "../terminal";
import { loadFleet, planFile, readIfThere, stacksOf } from "./load";
import type { Fleet } from "./plan/fleet";
import { NOTHING_DONE } from "./plan/waves";
import { lastLines, startStackProcess, type StackProcess } from "./stack-process";
import { fleetTable } from "./table";
import { runWaves } from "./waves-runner";

export interface FleetPreviewOptions {
  readonly file?: string;
  /** The folder for the plans of `foresail fleet up --plan`. */
  readonly savePlan?: string;
}

/** Previews all stacks of a fleet; changes nothing. @returns the exit code: failed when the preview of a stack failed */
export async function fleetPreview({ file, savePlan }: FleetPreviewOptions, say = print): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleet(project, file);
  if (savePlan === undefined)
    return withPrivateFolder(async (folder) => EXIT[await previewAll(project, fleet, folder, say)]);
  const end = await previewAll(project, fleet, savePlan, say);
  if (end === "done")
    say(`the plans are in ${savePlan}; to do exactly this: foresail fleet up --plan ${savePlan}`);
  return EXIT[end];
}

/** Previews all stacks, as many at once as the fleet allows, and prints their table. */
export async function previewAll(
  project: Project,
  fleet: Fleet,
  plans: string,
  say: (line: string) => void,
): Promise<"done" | "failed" | "interrupted"> {
  await mkdir(plans, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`can't create ${plans}: ${fileFault(error) ?? String(error)}; name another folder`);
  });
  const stacks = stacksOf(fleet);
  say(`previewing ${plural(stacks.length, "stack")}, ${fleet.maxParallel} at once`);
  const running = new Set<StackProcess>();
  const stop = new AbortController();
  const forget = onInterrupts(() => {
    stop.abort();
    for (const { child } of running) child.kill("SIGINT");
  });
  const found = new Map<string, { text: string; details: readonly string[] }>();
  try {
    return await withPrivateFolder(async (folder) => {
      const stack = async (name: string) => {
        const [log, json] = ["log", "json"].map((end) =>
          path.join(folder, `${encodeURIComponent(name)}.${end}`),
        );
        const args = ["preview", "--stack", name, "--save-plan", path.resolve(planFile(plans, name))];
        const started = startStackProcess(project.folder, [...args, "--json", json!], log!);
        running.add(started);
        const exitCode = await started.ended;
        running.delete(started);
        found.set(name, await resultOf(exitCode, json!, log!));
        return exitCode === 0 ? ("done" as const) : ("failed" as const);
      };
      const all = { ...fleet, onFailure: "continue" as const, waves: [{ name: "all", stacks }] };
      const work = { stack, gate: () => Promise.resolve("passed" as const), save: () => Promise.resolve() };
      const end = await runWaves(all, NOTHING_DONE, work, stop.signal);
      for (const [name, { details }] of found)
        if (details.length > 0) say([`${name}:`, ...details].join("\n    "));
      for (const line of fleetTable(fleet, "PREVIEW", (name) => found.get(name)?.text ?? "not previewed"))
        say(line);
      return stop.signal.aborted ? "interrupted" : end === "done" ? "done" : "failed";
    });
  } finally {
    forget();
  }
}

async function resultOf(exitCode: number, json: string, log: string) {
  const text = await readIfThere(json);
  if (exitCode !== 0 || text === undefined) return { text: "failed", details: await lastLines(log) };
  const preview = readPreview(text);
  const dangers = findDangers(preview);
  const review = dangers.length === 0 ? "" : `; review first: ${dangers.length}`;
  const steps = preview.changes.flatMap((change) => change.steps);
  const all = [...steps, ...dangers.map(({ kind, words }) => `! ${kind}: ${words}`)];
  return preview.changes.length === 0
    ? { text: "nothing changes", details: [] }
    : { text: countSteps(preview.changes) + review, details: all };
}
