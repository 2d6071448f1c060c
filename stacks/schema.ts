/** The configuration of a stack: its schema, its types and how it is read. */
export { BaseCluster, ClusterConfiguration, ClusterInput, MACHINE_FIELDS } from "./schema/cluster";
export type { ControlPlaneMachine, Machine, WorkerMachine } from "./schema/complete";
export { CONFIGURATION_KEYS, SYSTEMS, type ConfigurationKey, type System } from "./schema/keys";
export {
  engineReader,
  loadConfiguration,
  type Configuration,
  type ConfigurationReader,
  type KubeadmConfiguration,
  type MachinePoolConfiguration,
  type OpenstackConfiguration,
  type SshConfiguration,
} from "./schema/loading";
export { MachinePoolSection } from "./schema/machine-pool";
export { OpenstackSection } from "./schema/openstack";
export type { RegistryCredential } from "./schema/secrets";
