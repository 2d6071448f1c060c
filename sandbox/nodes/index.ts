export { ensureBundle } from "./bundle";
export { containerNodeSettings } from "./container-node-settings";
export { DIRT } from "./dirt";
export { NodeFleet, type NodeSpec, type SandboxNode } from "./fleet";
export { ECHO_IMAGE, type KubernetesPrograms } from "./kubernetes-programs";
export { ensureNodeImage } from "./node-image";
export type { NodeKind } from "./node-kinds";
export { BUNDLES_IN_NODE, nodeKeyFile } from "./paths";
