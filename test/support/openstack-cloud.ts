import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { projectFolder } from "../../sandbox/nodes/paths";
import { Cloud } from "../../sandbox/openstack/cloud";
import type { CloudApi } from "../../sandbox/openstack/cloud-api";
import type { CloudOptions } from "../../sandbox/openstack/cloud-options";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { nameInLane } from "../lane";

/** The system of the container nodes of test clouds, so that leftovers of a killed run are found. */
export const TEST_CLOUD_SYSTEM = nameInLane("e2e-openstack");

/**
 * A cloud of the tests' own. Its folder has always the same place: the next run finds what a killed one left, and
 * ends it.
 */
export function testCloud(options: Partial<CloudOptions> = {}, system = TEST_CLOUD_SYSTEM): Cloud {
  return new Cloud({ folder: path.join(projectFolder, ".sandbox", system), system, ...options });
}

/** What servers of a test need, by the cloud's own API. */
export interface TestNetwork {
  readonly network: string;
  readonly subnet: string;
}

type Named = { id: string; name: string };

/** The objects of a kind, by their names. */
export async function findId(
  api: CloudApi,
  service: "nova" | "neutron" | "glance",
  path: string,
  name: string,
): Promise<string> {
  const answer = (await api.call(service, "GET", path)) as Record<string, unknown>;
  const list = Object.values(answer).find((value) => Array.isArray(value)) as Named[] | undefined;
  const found = list?.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${service} has no ${name} at ${path}`);
  return found.id;
}

export async function makeNetwork(api: CloudApi, name: string, cidr: string): Promise<TestNetwork> {
  const { network } = (await api.call("neutron", "POST", "/v2.0/networks", { network: { name } })) as {
    network: Named;
  };
  const { subnet } = (await api.call("neutron", "POST", "/v2.0/subnets", {
    subnet: { name, network_id: network.id, ip_version: 4, cidr },
  })) as { subnet: Named };
  return { network: network.id, subnet: subnet.id };
}

/** Creates a server in Nova. */
export async function makeServer(
  api: CloudApi,
  name: string,
  network: string,
  options: { flavor?: string; key?: string } = {},
): Promise<string> {
  const { server } = (await api.call("nova", "POST", "/servers", {
    server: {
      name,
      imageRef: await findId(api, "glance", "/v2/images", CLOUD_NAMES.image),
      flavorRef: await findId(api, "nova", "/flavors", options.flavor ?? CLOUD_NAMES.flavor),
      networks: [{ uuid: network }],
      ...(options.key === undefined ? {} : { key_name: options.key }),
    },
  })) as { server: Named };
  return server.id;
}

/** A server as nova describes it. */
interface ServerState {
  readonly status: string;
  readonly fault?: { readonly message: string };
  readonly addresses: Readonly<Record<string, readonly { addr: string }[]>>;
}

export async function readServer(api: CloudApi, id: string): Promise<ServerState> {
  return ((await api.call("nova", "GET", `/servers/${id}`)) as { server: ServerState }).server;
}

/**
 * Waits until a server has one of the states.
 * @throws Error at the deadline, with what was last seen
 */
export async function awaitServer(
  api: CloudApi,
  id: string,
  wanted: readonly string[],
  seconds: number,
): Promise<ServerState> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const server = await readServer(api, id);
    if (wanted.includes(server.status)) return server;
    if (Date.now() > deadline)
      throw new Error(`the server ${id} is ${server.status} after ${seconds} s, not ${wanted.join(" or ")}`);
    await pause(250);
  }
}

/** Waits until the cloud no longer has the server. */
export async function awaitGone(api: CloudApi, id: string, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const { servers } = (await api.call("nova", "GET", "/servers")) as { servers: Named[] };
    if (!servers.some((server) => server.id === id)) return;
    if (Date.now() > deadline) throw new Error(`the server ${id} is still there after ${seconds} s`);
    await pause(250);
  }
}
