/** The configuration of a stack: its schema, its types and its reader. */
export { AzimuthSection } from "./schema/azimuth";
export { type BaseCluster, ClusterInput, EXISTING_MACHINE_FIELDS } from "./schema/cluster";
export { CollectorSection } from "./schema/collector";
export type { Configuration, ConfigurationOf, KubeadmConfiguration } from "./schema/reading";
export { CONFIGURATION_KEYS, SYSTEMS, type ConfigurationKey, type System } from "./schema/keys";
export { loadConfiguration } from "./schema/loading";
export { engineReader, type ConfigurationReader } from "./schema/reader";
export { MachinePoolSection } from "./schema/machine-pool";
export { OpenstackSection } from "./schema/openstack";
export { SharedSources, withShared } from "./schema/shared";
export { TumblebugSection } from "./schema/tumblebug";
