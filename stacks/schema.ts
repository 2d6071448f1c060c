/** The configuration of a stack: its schema, its types and its reader. */
export { AzimuthSection } from "./schema/azimuth";
export { BaseCluster, ClusterInput, MACHINE_FIELDS } from "./schema/cluster";
export { ClusterConfiguration } from "./schema/cluster-rules";
export type { ControlPlaneMachine, Machine, WorkerMachine } from "./schema/cluster-rules";
export type {
  AzimuthConfiguration,
  Configuration,
  KubeadmConfiguration,
  MachinePoolConfiguration,
  OpenstackConfiguration,
  SshConfiguration,
  TumblebugConfiguration,
} from "./schema/reading";
export { CONFIGURATION_KEYS, SYSTEMS, type ConfigurationKey, type System } from "./schema/keys";
export { engineReader, loadConfiguration, type ConfigurationReader } from "./schema/loading";
export { MachinePoolSection } from "./schema/machine-pool";
export { OpenstackSection } from "./schema/openstack";
export type { RegistryCredential } from "./schema/secrets";
export { TumblebugSection } from "./schema/tumblebug";
