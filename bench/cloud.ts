import path from "node:path";
import { projectFolder } from "../sandbox/nodes/places";
import { Cloud } from "../sandbox/openstack/cloud";
import { SANDBOX_NEEDS, setUp } from "../sandbox/set-up";
import type { Toolchain } from "../sandbox/toolchain";
import { clearProject } from "./cloud-clearing";
import type { BenchContext } from "./measurement";

const NAME = "bench-openstack";

/** A real OpenStack whose servers are rows in nova's database, with room for two stacks of 100 servers. */
export interface BenchCloud {
  readonly toolchain: Toolchain;
  /** What makes programs find it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Deletes what a measured program made, past the engine: the provider would wait 10 s for each server. */
  clear(): Promise<void>;
  delete(): Promise<void>;
}

/** Starts a new cloud in place of one that a killed run left. */
export async function startBenchCloud({ report }: Pick<BenchContext, "report">): Promise<BenchCloud> {
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
  try {
    const { cloudsFile } = await cloud.start(toolchain.python("openstack"), report);
    await cloud.setQuota({
      compute: { instances: 250, cores: 1000, ram: 1_048_576, server_group_members: 250 },
      network: { port: 600 },
    });
    const api = await cloud.api("project");
    return {
      toolchain,
      variables: { OS_CLIENT_CONFIG_FILE: cloudsFile },
      clear: () => clearProject(api),
      delete: () => cloud.delete(),
    };
  } catch (error) {
    await cloud.delete();
    throw error;
  }
}
