import path from "node:path";
import { CLOUD_NAMES } from "../sandbox/openstack/seed";
import type { BenchCloud } from "./cloud";
import { SERVERS_VARIABLE } from "./programs/servers";
import { BenchStack } from "./stack";

/** The programs that create the servers. */
export type Who = "floor" | "foresail";
const PROGRAMS: Readonly<Record<Who, string>> = {
  floor: "openstack-floor.js",
  foresail: "openstack-infrastructure.js",
};

export const NAMES: Readonly<Record<Who, string>> = { floor: "bare program", foresail: "foresail" };

/** Returns both, with a different one first in each round. */
export const inTurn = (round: number): Who[] =>
  round % 2 === 0 ? ["floor", "foresail"] : ["foresail", "floor"];

/** Returns a new stack of one of the programs. */
export async function makeStack(cloud: BenchCloud, who: Who, servers: number): Promise<BenchStack> {
  const program = path.join(__dirname, "programs", PROGRAMS[who]);
  return BenchStack.ofProgram(
    cloud.toolchain,
    who,
    `module.exports = require(${JSON.stringify(program)});\n`,
    {
      variables: { ...cloud.variables, OS_CLOUD: CLOUD_NAMES.cloud, [SERVERS_VARIABLE]: String(servers) },
      tuned: who === "foresail",
    },
  );
}
