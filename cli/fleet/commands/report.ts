import { displayJson } from "../../../lib/text/display";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { renderFleetComment } from "../review/comment";
import { writePrivately } from "../../engine/private-file";
import { renderPage } from "../page/page";
import { readReview } from "../review/review";

interface FleetReportOptions {
  /** The folder of `foresail fleet preview --save-plan`. */
  readonly folder: string;
  readonly form?: "markdown" | "json";
  /** Whether the comment ends with the plans, for a pipeline. */
  readonly plans?: boolean;
  /** The file for the page. */
  readonly html?: string;
}

/** Prints the preview of a fleet for a pull request or as JSON, and writes it as a page. Changes nothing, and needs neither engine nor stacks. */
export async function fleetReport(
  { folder, form, plans = false, html }: FleetReportOptions,
  write = (text: string) => void process.stdout.write(text),
): Promise<number> {
  if (form === undefined && html === undefined)
    throw new UsageError("give --output markdown, --output json or --html");
  const review = await readReview(folder);
  if (html !== undefined) await writePrivately(html, renderPage(review));
  if (form !== undefined)
    write(form === "json" ? `${displayJson(review)}\n` : renderFleetComment(review, { plans }));
  return EXIT.done;
}
