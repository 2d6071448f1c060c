import type { Command } from "commander";
import type { PlanOptions } from "./plan";

/** Adds the command plan, which forecasts a rollout with read access alone. */
export function addPlanCommand(program: Command): void {
  program
    .command("plan")
    .description("what a version rollout of any kubeadm cluster would do and meet, from reads alone")
    .requiredOption("--kubeconfig <file>", "the cluster's kubeconfig; reading rights are enough")
    .requiredOption("--to <version>", "the Kubernetes version to reach, e.g. 1.36.3")
    .option("--context <name>", "a context of the kubeconfig; its current one without it")
    .option(
      "--via <version...>",
      "versions to stop at between minors, instead of the latest known patches",
      [],
    )
    .option(
      "--max-unavailable <number>",
      "how many workers of a pool may be away at once, or a part: 25%",
      "1",
    )
    .option("--force", "count pods without a controller as losses, and not as in the way", false)
    .option(
      "--delete-emptydir-data",
      "count the data in emptyDir volumes as lost, and not as in the way",
      false,
    )
    .option("--json", "print it for programs", false)
    .option("--markdown", "print it for a pull request", false)
    // exit code 2 means that something blocks the rollout
    .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 1))
    .addHelpText(
      "after",
      "\nExits with 0 when nothing is in the way, 2 when something is, 3 when that is unknown because a right is missing, 1 on an error.",
    )
    .action(async (options: PlanOptions) => {
      const { plan } = await import("./plan.js");
      process.exitCode = await plan(options);
    });
}
