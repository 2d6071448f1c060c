import { EXIT } from "../../terminal/exit-codes";
import type { Project } from "../../engine/pulumi";
import type { Fleet } from "../plan/fleet";
import { stateTable } from "../run/table";
import { findRun } from "./run";

/** Prints how far the last run in Temporal is. @returns the exit code */
export async function serverStatus(
  project: Project,
  fleet: Fleet,
  say: (line: string) => void,
): Promise<number> {
  const { client, last, isOpen, waits } = await findRun(project, fleet);
  await client.connection.close();
  if (last === undefined) {
    say("there was no run of this fleet in Temporal");
    return EXIT.done;
  }
  say(`the run of ${last.startedAt}${isOpen ? ", which is open" : ""}`);
  for (const line of stateTable(fleet, last)) say(line);
  for (const line of waits) say(line);
  return EXIT.done;
}
