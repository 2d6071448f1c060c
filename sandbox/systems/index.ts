import { azimuthSystem } from "./azimuth";
import { machinePoolSystem } from "./machine-pool";
import { openstackSystem } from "./openstack";
import { sshSystem } from "./ssh";
import type { System } from "./system";
import { tumblebugSystem } from "./tumblebug";

/** Every system that the sandbox can start; the first is the default. */
export const SYSTEMS: readonly System[] = [
  sshSystem,
  openstackSystem,
  tumblebugSystem,
  azimuthSystem,
  machinePoolSystem,
];

/** The system that `npm start` takes when none is named. */
export const DEFAULT_SYSTEM = "ssh";

/** Thrown for a system that the sandbox does not know. */
export class UnknownSystemError extends Error {
  override readonly name = "UnknownSystemError";

  constructor(name: string, known: readonly string[]) {
    super(`there is no system ${JSON.stringify(name)}; the systems are: ${known.join(", ")}`);
  }
}

/**
 * Finds a system by its name.
 * @throws UnknownSystemError that names the known ones
 */
export function findSystem(name: string, systems: readonly System[] = SYSTEMS): System {
  const found = systems.find((system) => system.name === name);
  if (found === undefined) {
    throw new UnknownSystemError(
      name,
      systems.map((system) => system.name),
    );
  }
  return found;
}
