import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { Argument, Command, InvalidArgumentError } from "commander";
import pc from "picocolors";
import { projectFolder } from "../sandbox/paths";
import { createReporter } from "../sandbox/progress";
import { setUp, SANDBOX_NEEDS } from "../sandbox/set-up";
import { Interrupted } from "./interrupts";
import type { Measured, Measurement } from "./measurement";
import { azimuth } from "./measurements/azimuth";
import { fleet } from "./measurements/fleet";
import { growth } from "./measurements/growth";
import { largeCluster } from "./measurements/large-cluster";
import { machinePool } from "./measurements/machine-pool";
import { machinePoolMemory } from "./measurements/machine-pool-memory";
import { openstack } from "./measurements/openstack";
import { openstackPreview } from "./measurements/openstack-preview";
import { planner } from "./measurements/planner";
import { preview } from "./measurements/preview";
import { rolloutCluster } from "./measurements/rollout-cluster";
import { rollout } from "./measurements/rollout";
import { rolloutPreview } from "./measurements/rollout-preview";
import { scale } from "./measurements/scale";
import { size } from "./measurements/size";
import { temporal } from "./measurements/temporal";
import { tumblebug } from "./measurements/tumblebug";
import { up, upLarge } from "./measurements/up";
import { mergeResults, readResults, type Result, writeResults } from "./results";
import { describeMachine, describeVersions, LoadNotes } from "./environment";
import { renderPage, renderResult } from "./table";

const MEASUREMENTS: readonly Measurement[] = [
  preview,
  up,
  upLarge,
  scale,
  size,
  growth,
  planner,
  rolloutPreview,
  largeCluster,
  rollout,
  rolloutCluster,
  openstack,
  openstackPreview,
  tumblebug,
  azimuth,
  machinePool,
  machinePoolMemory,
  fleet,
  temporal,
];

interface Options {
  readonly dryRun?: boolean;
  readonly rounds?: number;
  readonly profile?: boolean;
}

const page = path.join(projectFolder, "docs", "benchmarks.md");
const imagesFolder = path.join(projectFolder, "docs", "images");

async function measure(
  measurement: Measurement,
  rounds?: number,
): Promise<{ result: Result; images: NonNullable<Measured["images"]> }> {
  const report = createReporter();
  const load = new LoadNotes();
  const say = (line: string) => console.log(`  ${line}`);
  const toolchain = await setUp(SANDBOX_NEEDS, report);
  const { rows, notes, images = [] } = await measurement.measure({ toolchain, report, load, say, rounds });
  const result = {
    name: measurement.name,
    title: measurement.title,
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(),
    versions: describeVersions(),
    ...load.range,
    rows,
    notes,
    ...(images.length > 0 && { images: images.map(({ file, shows }) => ({ file, shows })) }),
  };
  return { result, images };
}

/** Returns the named measurements, or all. @throws Error when one has no profile, but a profile is wanted */
function chosenMeasurements(names: readonly string[], profile: boolean): Measurement[] {
  const chosen = MEASUREMENTS.filter(({ name }) => names.length === 0 || names.includes(name));
  if (!profile) return chosen;
  return chosen.map((measurement) => {
    if (measurement.profile !== undefined) return measurement.profile;
    const profiled = MEASUREMENTS.filter((each) => each.profile !== undefined).map(({ name }) => name);
    throw new Error(`${measurement.name} has no profile; use --profile with: ${profiled.join(", ")}`);
  });
}

function parseRounds(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError("It has to be a whole number from 1 to 99.");
  return Number(text);
}

async function main(): Promise<void> {
  const choices = MEASUREMENTS.map(({ name, summary }) => `  ${name.padEnd(20)} ${summary}`).join("\n");
  const names = new Argument("[NAME...]", "which to run; all if none is named").choices(
    MEASUREMENTS.map(({ name }) => name),
  );
  await new Command("npm run bench --")
    .description(
      `Measures foresail side by side with what it is compared with, and writes docs/benchmarks.md.\n\n${choices}`,
    )
    .addArgument(names)
    .option("--dry-run", "print the figures, and leave docs/benchmarks.md as it is")
    .option("--rounds <number>", "number of runs, instead of each benchmark's own", parseRounds)
    .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
    .option("--profile", "show where the time goes, instead of comparing")
    .action(async (names: string[], { dryRun, rounds, profile }: Options) => {
      for (const measurement of chosenMeasurements(names, profile === true)) {
        console.log(pc.bold(measurement.title));
        const { result, images } = await measure(measurement, rounds);
        console.log(`\n${renderResult(result)}`);
        if (dryRun === true) continue;
        for (const { file, svg } of images) writeFileSync(path.join(imagesFolder, file), svg);
        // after each, so that a later failure does not lose this result
        const results = mergeResults(readResults(), [result]);
        writeResults(results);
        writeFileSync(page, renderPage(results));
      }
    })
    .parseAsync();
}

main().catch((error: unknown) => {
  console.error(pc.red(error instanceof Error ? error.message : String(error)));
  // background work of an interrupted benchmark has nothing left to work on
  if (error instanceof Interrupted) process.exit(128 + constants.signals[error.signal]);
  process.exitCode = 1;
});
