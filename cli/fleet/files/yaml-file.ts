import path from "node:path";
import { issueCount, issueLines, type ValidationIssue } from "../../../lib/validation/validation-issue";

/** Returns the name of a fleet's file for messages. @param file as the command line gives it */
export const fleetFileName = (file = "fleet.yaml"): string => path.basename(file);

/** Returns the error for files that are not valid, with their issues, one per line. */
export function invalidFile(name: string, issues: readonly ValidationIssue[]): Error {
  const lines = issueLines(issues).map((line) => `\n  ${line}`);
  return new Error(`${name} has ${issueCount(issues)}; nothing was changed:${lines.join("")}`);
}
