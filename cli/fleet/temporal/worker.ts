import { UsageError, EXIT } from "../../terminal/exit-codes";
import { findProject } from "../../engine/pulumi";
import { onInterrupts, print } from "../../terminal/terminal";
import { readRegions } from "../files/labels";
import { loadFleetOfFiles } from "../files/load";
import { fleetId, queueOf } from "../plan/temporal";
import { connectWorker, loadSdk } from "./connection";
import { FleetSeals } from "./seals";
import { serverOf } from "./server";
import { fleetFileName } from "../files/yaml-file";

export interface FleetWorkerOptions {
  readonly file?: string;
  readonly region: string;
}

/** Works on the stacks of a region until an interrupt. @returns the exit code */
export async function fleetWorker({ file, region }: FleetWorkerOptions, say = print): Promise<number> {
  const project = await findProject();
  const load = async () => {
    const fleet = await loadFleetOfFiles(project, file);
    return { fleet, regions: readRegions(project, fleet, file) };
  };
  const { fleet, regions } = await load();
  const known = [...new Set(Object.values(regions))].sort();
  if (!known.includes(region))
    throw new UsageError(
      `no stack of ${fleetFileName(file)} is in the region ${region}; there are: ${known.join(", ")}`,
    );
  const id = fleetId(project.name, fleet);
  const seals = FleetSeals.take(id);
  const { activitiesOf } = await loadSdk(() => import("./activities.js"));
  const activities = activitiesOf({ project, region, seals, load });
  const { sdk, connection, address, namespace } = await connectWorker(serverOf(fleet));
  const common = { connection, namespace };
  const workers = await Promise.all([
    // a run goes on as long as there is a worker in any region
    sdk.Worker.create({ ...common, taskQueue: id, workflowsPath: require.resolve("./workflow.js") }),
    sdk.Worker.create({
      ...common,
      taskQueue: queueOf(id, region),
      activities: { ...activities },
      shutdownGraceTime: 0,
    }),
  ]);
  const forget = onInterrupts(() => {
    say("stopping: the stacks of this worker are asked to pause; another worker does the rest");
    for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  });
  say(`working on ${region} for ${id} at ${address}, namespace ${namespace}`);
  try {
    await Promise.all(workers.map((worker) => worker.run()));
    return EXIT.done;
  } finally {
    forget();
    await connection.close();
  }
}
