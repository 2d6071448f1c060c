import { setImmediate as afterOtherEvents } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";

/** A package whose default provider the program's resources use. */
interface ProvidedPackage {
  readonly name: string;
  /** As the package's resources request it; any other starts a second provider. Dynamic resources request none. */
  readonly version?: string;
}

/** The package of dynamic resources. */
export const DYNAMIC: ProvidedPackage = { name: "pulumi-nodejs" };

/** The package of commands on machines. */
export const COMMAND: ProvidedPackage = {
  name: "command",
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  version: (require("@pulumi/command/package.json") as { version: string }).version,
};

/**
 * Makes the engine start default providers while the program loads and computes, instead of at the first resource of each.
 * It asks them for a function that they don't have. Their answers change nothing, and a provider that can't be started is
 * reported for the first resource that needs it.
 */
export async function startProviders(packages: readonly ProvidedPackage[]): Promise<void> {
  for (const { name, version } of packages)
    void pulumi.runtime
      .invoke(`${name}:index:start`, {}, version === undefined ? {} : { version })
      .catch(() => undefined);
  // the requests leave before the program computes for seconds
  await afterOtherEvents();
  await afterOtherEvents();
}
