import { setImmediate as afterOtherEvents } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";

/**
 * Starts the provider of dynamic resources, which every system has but the collector. It does not wait for the code of the
 * system, so it looks only at the stack's own file.
 */
export async function startDynamicProvider(): Promise<void> {
  if (new pulumi.Config().get("system") !== "collector") await startProvider("pulumi-nodejs");
}

/** Starts the provider of the commands by which foresail prepares machines. */
export async function startCommandProvider(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  await startProvider("command", require("@pulumi/command/package.json") as { version: string });
}

/**
 * Makes the engine start the default provider of a package while the program loads and computes, instead of at the first
 * resource. It asks the provider for a function that it does not have. The answer changes nothing, and a provider that can't
 * be started is reported for the first resource that needs it.
 *
 * @param options.version as the package's resources request it: any other starts a second provider; dynamic ones request none
 */
async function startProvider(name: string, { version }: { version?: string } = {}): Promise<void> {
  void pulumi.runtime
    .invoke(`${name}:index:start`, {}, version === undefined ? {} : { version })
    .catch(() => undefined);
  // the request leaves before the program computes for seconds
  await afterOtherEvents();
  await afterOtherEvents();
}
