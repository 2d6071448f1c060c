import path from "node:path";
import { projectFolder } from "../sandbox/nodes/places";
import { Cloud } from "../sandbox/openstack/cloud";
import type { CloudApi } from "../sandbox/openstack/cloud-api";
import { SANDBOX_NEEDS, setUp } from "../sandbox/set-up";
import type { Toolchain } from "../sandbox/toolchain";
import type { BenchContext } from "./measurement";

const NAME = "bench-openstack";

/** A real OpenStack whose servers are rows in nova's database, with room for two stacks of 100 servers. */
export interface BenchCloud {
  readonly toolchain: Toolchain;
  /** What makes programs find it. */
  readonly variables: Readonly<Record<string, string>>;
  /** @throws Error that names what a project still has */
  assertEmpty(): Promise<void>;
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
      assertEmpty: () => assertEmpty(api),
      delete: () => cloud.delete(),
    };
  } catch (error) {
    await cloud.delete();
    throw error;
  }
}

/** Where the objects of a project are listed, without those that a project always has. */
const LISTS = [
  { service: "nova", path: "/servers", field: "servers" },
  { service: "nova", path: "/os-keypairs", field: "keypairs" },
  { service: "nova", path: "/os-server-groups", field: "server_groups" },
  { service: "neutron", path: "/v2.0/networks?router:external=false", field: "networks" },
  { service: "neutron", path: "/v2.0/routers", field: "routers" },
  { service: "neutron", path: "/v2.0/ports", field: "ports" },
  { service: "neutron", path: "/v2.0/floatingips", field: "floatingips" },
  { service: "neutron", path: "/v2.0/security-groups", field: "security_groups" },
] as const;

async function assertEmpty(api: CloudApi): Promise<void> {
  const left = await Promise.all(
    LISTS.map(async ({ service, path: list, field }) => {
      const answer = (await api.call(service, "GET", list)) as Record<string, { name?: string }[]>;
      const found = (answer[field] ?? []).filter(({ name }) => name !== "default");
      return found.length === 0 ? [] : [`${found.length} ${field}`];
    }),
  );
  if (left.flat().length > 0) throw new Error(`destroy left in the cloud: ${left.flat().join(", ")}`);
}
