export { Cloud } from "./cloud";
export { readCloudConfiguration, type CloudConfiguration } from "./cloud-configuration";
export { CloudConfigurationError, CloudRefusal, CloudUnreachable } from "./errors";
export {
  consoleHostKeys,
  listServers,
  readCloudFacts,
  readConsoleHostKeys,
  serverFault,
  setServerMetadata,
} from "./facts";
export { deleteObject, readMarkedObjects } from "./marked-objects";
