export { Cloud, type CloudOptions } from "./cloud";
export { readCloudConfiguration, type CloudConfiguration } from "./cloud-configuration";
export { CloudConfigurationError, CloudRefusal, CloudUnreachable } from "./errors";
export {
  consoleOutput,
  listServers,
  readCloudFacts,
  serverFault,
  serverMetadata,
  setServerMetadata,
} from "./facts";
export { deleteObject, readMarkedObjects } from "./marked-objects";
