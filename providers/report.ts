import { redact } from "../core/redaction";

/** Prints one line of progress; the engine shows it among the resource's messages. */
export function report(resource: string, line: string): void {
  console.log(redact(`${resource}: ${line}`));
}
