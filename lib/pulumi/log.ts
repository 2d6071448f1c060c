import { describeRecorded } from "./recorded";
import { redact } from "../text/redaction";

/**
 * Prints what an update records for later runs when the resource has no steps, so that every changed resource has a
 * line.
 *
 * @param olds the recorded inputs; empty for a new resource
 * @param keys names of inputs that the resource records
 */
export function reportRecorded<Inputs extends { steps?: string[] }>(
  resource: string,
  olds: Partial<Inputs>,
  news: Inputs,
  keys: readonly (keyof Inputs & string)[],
): void {
  if (Object.keys(olds).length === 0 || (news.steps ?? []).length > 0) return;
  for (const line of describeRecorded(olds, news, keys)) report(resource, line);
}

/** Prints one line of progress; the engine shows it among the resource's messages. */
export function report(resource: string, line: string): void {
  console.log(redact(`${resource}: ${line}`));
}
