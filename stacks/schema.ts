/** The configuration of a stack: its schema, its types and how it is read. */
export { ClusterConfiguration, ClusterInput } from "./schema/cluster";
export type { ControlPlaneMachine, Machine, WorkerMachine } from "./schema/complete";
export { CONFIGURATION_KEYS, SYSTEMS, type ConfigurationKey, type System } from "./schema/keys";
export {
  engineReader,
  loadConfiguration,
  type Configuration,
  type ConfigurationReader,
} from "./schema/loading";
export type { RegistryCredential } from "./schema/secrets";
