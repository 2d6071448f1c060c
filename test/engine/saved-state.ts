import { readFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";
import type { ExportedState } from "./test-stack";

/** A stack as an earlier release left it: 1 control plane and 1 worker, its secrets under the tests' passphrase. */
interface SavedState {
  /** The SSH key of the machines; the private one is only in the state. */
  readonly userKey: string;
  readonly stack: ExportedState;
}

/** Where the state of one release is kept. Never changed later: users' backends contain such state. */
export function savedStateFile(release: string): string {
  return path.join(projectFolder, "test", "engine", "fixtures", `state-${release}.json`);
}

export function readSavedState(release: string): SavedState {
  return JSON.parse(readFileSync(savedStateFile(release), "utf8")) as SavedState;
}

/** How a machine is reached, as foresail records it in plain text. */
interface RecordedAddress {
  readonly name: string;
  readonly port: number;
  readonly hostKey: string;
  readonly apiServer?: string;
}

/** The same state with current machines: recorded addresses are replaced. */
export function withAddresses<T>(value: T, places: readonly RecordedAddress[]): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withAddresses(item, places)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withAddresses(item as unknown, places)]);
  const copy = Object.fromEntries(entries) as Record<string, unknown>;
  const ref = places.find(({ name }) => name === copy.name && "hostKey" in copy);
  return (ref ? { ...copy, ...ref } : copy) as T;
}
