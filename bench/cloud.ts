import path from "node:path";
import { projectFolder } from "../sandbox/nodes/paths";
import { Cloud } from "../sandbox/openstack/cloud";
import { SANDBOX_NEEDS, setUp } from "../sandbox/set-up";
import type { Toolchain } from "../sandbox/toolchain";
import { clearProject } from "./cloud-clearing";
import { removedAfter } from "./interrupts";
import type { BenchContext } from "./measurement";

const NAME = "bench-openstack";

/** A real OpenStack whose servers are rows in nova's database, with room for two stacks of 100 servers. */
export interface BenchCloud {
  readonly toolchain: Toolchain;
  /** Variables with which programs find it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Deletes what a measured program created, without the engine: the provider would wait 10 s for each server. */
  clear(): Promise<void>;
}

/** Creates a new cloud, runs the work and removes the cloud; first removes one that a killed run left. */
export async function withBenchCloud<T>(
  { report }: Pick<BenchContext, "report">,
  work: (cloud: BenchCloud) => Promise<T>,
): Promise<T> {
  const toolchain = await setUp(
    { ...SANDBOX_NEEDS, programs: [...SANDBOX_NEEDS.programs, "plugin-openstack"], python: ["openstack"] },
    report,
  );
  const cloud = new Cloud({
    folder: path.join(projectFolder, ".sandbox", NAME),
    system: NAME,
    containers: false,
  });
  await cloud.delete();
  return removedAfter(
    () => cloud.delete(),
    async () => {
      const { cloudsFile } = await cloud.start(toolchain.python("openstack"), report);
      await cloud.setQuota({
        compute: { instances: 250, cores: 1000, ram: 1_048_576, server_group_members: 250 },
        network: { port: 600 },
      });
      const api = await cloud.api("project");
      const variables = { OS_CLIENT_CONFIG_FILE: cloudsFile };
      return work({ toolchain, variables, clear: () => clearProject(api) });
    },
  );
}
