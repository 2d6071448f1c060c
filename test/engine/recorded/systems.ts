import type { ProgramName } from "../../../sandbox/toolchain";
import { TEST_NEEDS } from "../../../sandbox/set-up";
import { startAzimuthServers } from "./azimuth";
import { startPoolServers } from "./machine-pool";
import { startOpenstack } from "./openstack";
import type { StartServers } from "./recorded-stack";
import { startMachines } from "./ssh";
import { startTumblebug } from "./tumblebug";

/** How the servers of each system are started, and the programs that its stack needs. */
export const RECORDED_SYSTEMS: Readonly<
  Record<string, { start: StartServers; programs: readonly ProgramName[] }>
> = {
  azimuth: { start: startAzimuthServers, programs: TEST_NEEDS.programs },
  "machine-pool": { start: startPoolServers, programs: ["pulumi", "language-nodejs", "cluster-api"] },
  openstack: { start: startOpenstack, programs: [...TEST_NEEDS.programs, "plugin-openstack"] },
  ssh: { start: startMachines, programs: TEST_NEEDS.programs },
  tumblebug: { start: startTumblebug, programs: TEST_NEEDS.programs },
};
