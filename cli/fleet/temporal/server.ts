import type { Fleet } from "../plan/fleet";
import { TemporalServer } from "../plan/temporal-server";

/** What carries out the waves. */
export type RunnerName = "local" | "temporal";

/** Returns what carries out the waves: what the command line says, or else fleet.yaml. */
export const runnerOf = (fleet: Fleet, given: RunnerName | undefined): RunnerName =>
  given ?? (fleet.runner?.temporal === undefined ? "local" : "temporal");

/** Returns the server of a fleet; default: one on this machine. */
export const serverOf = (fleet: Fleet): TemporalServer => fleet.runner?.temporal ?? TemporalServer.parse({});
