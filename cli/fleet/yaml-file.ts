import path from "node:path";
import {
  type Document,
  type DocumentOptions,
  parseDocument,
  type ParseOptions,
  type SchemaOptions,
} from "yaml";
import { issueCount, issueLines, type ValidationIssue } from "../../lib/validation/validation-issue";

/** Parses the text of a file. @throws Error with its name when it is not YAML */
export function parseYaml(
  text: string,
  name: string,
  options: ParseOptions & DocumentOptions & SchemaOptions = {},
): unknown {
  const document: Document.Parsed = parseDocument(text, options);
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`${name} is not YAML: ${error.message.split("\n")[0]}`);
  return document.toJS();
}

/** Returns the name of a fleet's file for messages. @param file as the command line gives it */
export const fleetFileName = (file = "fleet.yaml"): string => path.basename(file);

/** Returns the error for files that are not valid, with their issues, one per line. */
export function invalidFile(name: string, issues: readonly ValidationIssue[]): Error {
  const lines = issueLines(issues).map((line) => `\n  ${line}`);
  return new Error(`${name} has ${issueCount(issues)}; nothing was changed:${lines.join("")}`);
}
