/** The process of a simulated Tumblebug whose VMs are container nodes. Argument: its folder. */
import { ContainerMachines } from "./container-machines";
import { TumblebugServer } from "./server";
import { readServerSettings, serverPaths } from "./settings";

async function main(): Promise<void> {
  const folder = process.argv[2] ?? "";
  const settings = await readServerSettings(folder);
  if (settings === undefined) throw new Error(`there is no server in ${folder}`);
  const server = new TumblebugServer({
    ...settings,
    folder: serverPaths(folder).state,
    machines: new ContainerMachines(settings.system, settings.bundles, settings.publicBlocks),
  });
  process.once("SIGTERM", () => void server.close());
  console.log(`${new Date().toISOString()} ${await server.start(settings.port)}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
