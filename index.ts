import { loadConfiguration } from "./stacks/schema";
import { build } from "./stacks/systems";

// a function, since the outputs of some systems are there only after a question to the engine
module.exports = () => build(loadConfiguration());
