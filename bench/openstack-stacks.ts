import path from "node:path";
import { CLOUD_NAMES } from "../sandbox/openstack/seed";
import type { BenchCloud } from "./cloud";
import { SERVERS_VARIABLE } from "./programs/servers";
import { BenchStack } from "./stack";

/** Who makes the servers. */
export type Who = "floor" | "foresail";
const PROGRAMS: Readonly<Record<Who, string>> = {
  floor: "openstack-floor.js",
  foresail: "openstack-infrastructure.js",
};

export const NAMES: Readonly<Record<Who, string>> = { floor: "bare program", foresail: "foresail" };

/** Both in turn the one and the other first. */
export const inTurn = (round: number): Who[] =>
  round % 2 === 0 ? ["floor", "foresail"] : ["foresail", "floor"];

/** A stack of one of the programs, with nothing made yet. */
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
