import { loadConfiguration } from "./stacks/schema";
import { systems } from "./stacks/systems";

const configuration = loadConfiguration();

module.exports = systems[configuration.system]().build(configuration);
