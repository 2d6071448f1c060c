export { Cloud, type CloudOptions } from "./cloud";
export { readCloudConfiguration, type CloudConfiguration } from "./cloud-configuration";
export { CloudConfigurationError, CloudRefusal, CloudUnreachable } from "./errors";
export { consoleOutput, readCloudFacts, serverMetadata, setServerMetadata } from "./facts";
export { deleteObject } from "./delete-object";
export { readMarkedObjects } from "./marked-objects";
export { listServers, serverFault } from "./servers";
