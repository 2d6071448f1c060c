import { SANDBOX_NEEDS, type Needs } from "../set-up";
import { Cloud } from "./cloud";
import { sandboxCloudFolder } from "./places";

export { Cloud, type CloudAccess, type CloudStatus } from "./cloud";
export type { CloudOptions } from "./cloud-options";
export type { Effect, Fault } from "./front/fault";
export { FaultControl } from "./front/fault-control";
export { CLOUD_NAMES } from "./seed";

/** What a stack of the system openstack needs on this machine: the cloud, and the engine's plugin for it. */
export const OPENSTACK_NEEDS: Needs = {
  ...SANDBOX_NEEDS,
  programs: [...SANDBOX_NEEDS.programs, "plugin-openstack"],
  python: ["openstack"],
};

/** The sandbox's own cloud; its servers have the images of these Kubernetes versions from their beginning. */
export function sandboxCloud(bundles: readonly string[]): Cloud {
  return new Cloud({ folder: sandboxCloudFolder, system: "openstack", bundles });
}
