import { engineReader, loadConfiguration, withShared } from "./stacks/schema";
import { build } from "./stacks/systems";

// a function, since outputs of other stacks, and of some systems, are there only after a question to the engine
module.exports = async () => build(loadConfiguration(await withShared(engineReader())));
