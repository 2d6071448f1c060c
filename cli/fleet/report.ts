import { displayJson } from "../../lib/text/display";
import { EXIT, UsageError } from "../exit-codes";
import { renderFleetComment } from "./comment";
import { readReview } from "./review";

export interface FleetReportOptions {
  /** The folder of `foresail fleet preview --save-plan`. */
  readonly folder: string;
  readonly form?: "markdown" | "json";
}

/** Prints the preview of a fleet for a pull request or as JSON. Changes nothing, and needs neither engine nor stacks. */
export async function fleetReport(
  { folder, form }: FleetReportOptions,
  write = (text: string) => void process.stdout.write(text),
): Promise<number> {
  if (form === undefined) throw new UsageError("give --output markdown or --output json");
  const review = await readReview(folder);
  write(form === "json" ? `${displayJson(review)}\n` : renderFleetComment(review));
  return EXIT.done;
}
