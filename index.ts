import "./stacks/output";
import { startCommandProvider, startDynamicProvider } from "./stacks/early-providers";

// a function, since outputs of other stacks, and of some systems, are there only after a question to the engine
module.exports = async () => {
  await startDynamicProvider();
  // the modules take half a second to load, in which the provider starts
  const { engineReader, loadConfiguration, withShared } =
    (await import("./stacks/schema.js")) as typeof import("./stacks/schema");
  const { build, runsCommands } = (await import("./stacks/systems.js")) as typeof import("./stacks/systems");
  const configuration = loadConfiguration(await withShared(engineReader()));
  if (runsCommands(configuration)) await startCommandProvider();
  return build(configuration);
};
