import path from "node:path";
import { openstackConfiguration } from "../sandbox/systems/openstack-configuration";
import { CLOUD_NAMES } from "../sandbox/openstack/seed";
import type { BenchCloud } from "./cloud";
import { describeWaits } from "./object-waits";
import { SERVERS_CIDR, SERVERS_KEY, SERVERS_VARIABLE, sizeOf } from "./programs/servers";
import { generateKey } from "../sandbox/nodes/generated-key";
import { BenchStack } from "./stack";

/** Who makes the servers. */
export type Who = "floor" | "foresail";
const PROGRAMS: Readonly<Record<Who, string>> = {
  floor: "openstack-floor.js",
  foresail: "openstack-infrastructure.js",
};

export const NAMES: Readonly<Record<Who, string>> = { floor: "bare program", foresail: "foresail" };

/** More than the engine's own, four for each processor, which would let 20 servers wait for each other. */
export const PARALLEL = 32;

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

/**
 * Compares what the measured program makes, and in which order, with what a stack of foresail does.
 * @throws Error with the first objects that differ
 */
export async function assertLikeCluster(cloud: BenchCloud, servers: number): Promise<void> {
  const key = { public: SERVERS_KEY, private: generatePrivateKey() };
  const configuration = openstackConfiguration({ size: sizeOf(servers), cidr: SERVERS_CIDR, key }, {});
  const real = await BenchStack.ofForesail(
    cloud.toolchain,
    {
      cluster: { ...configuration.cluster, name: "bench" },
      openstack: configuration.openstack,
      privateKey: key.private,
    },
    cloud.variables,
  );
  const measured = await makeStack(cloud, "foresail", servers);
  try {
    const theirs = describeWaits(await real.previewedResources({ exclude: ["**KubeadmCluster**"] }));
    const ours = describeWaits(await measured.previewedResources());
    if (theirs.filter((line) => line.includes(":Instance ")).length !== servers)
      throw new Error(`a preview of foresail does not make ${servers} servers:\n${theirs.join("\n")}`);
    const differing = [
      ...theirs.filter((line) => !ours.includes(line)).map((line) => `only foresail: ${line}`),
      ...ours.filter((line) => !theirs.includes(line)).map((line) => `only the measured program: ${line}`),
    ];
    if (differing.length > 0)
      throw new Error(
        `bench/programs/${PROGRAMS.foresail.replace(/js$/, "ts")} is no longer like OpenstackCluster:\n${differing.slice(0, 8).join("\n")}`,
      );
  } finally {
    real.delete();
    measured.delete();
  }
}

function generatePrivateKey(): string {
  return generateKey().private;
}
