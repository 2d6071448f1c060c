import { setTimeout as pause } from "node:timers/promises";
import type { CloudApi } from "../sandbox/openstack/cloud-api";
import type { ServiceName } from "../sandbox/openstack/settings";

const SECONDS = 300;

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly device_id?: string;
  readonly device_owner?: string;
  readonly keypair?: { readonly name: string };
}

/** Where objects are listed and deleted, in an order in which none is in use any more when it is deleted. */
const KINDS: readonly { service: ServiceName; path: string; query?: string; field: string }[] = [
  { service: "nova", path: "/servers", field: "servers" },
  { service: "neutron", path: "/v2.0/floatingips", field: "floatingips" },
  { service: "neutron", path: "/v2.0/ports", field: "ports" },
  { service: "neutron", path: "/v2.0/routers", field: "routers" },
  { service: "neutron", path: "/v2.0/networks", query: "?router:external=false", field: "networks" },
  { service: "neutron", path: "/v2.0/security-groups", field: "security_groups" },
  { service: "nova", path: "/os-server-groups", field: "server_groups" },
  { service: "nova", path: "/os-keypairs", field: "keypairs" },
];

/**
 * Deletes everything that a project has in a cloud except its default objects.
 * @throws Error that names what is left at the deadline
 */
export async function clearProject(api: CloudApi): Promise<void> {
  for (const kind of KINDS) {
    const deadline = Date.now() + SECONDS * 1000;
    const asked = new Set<string>();
    for (;;) {
      const answer = (await api.call(kind.service, "GET", kind.path + (kind.query ?? ""))) as Record<
        string,
        Listed[]
      >;
      const left = (answer[kind.field] ?? []).filter(({ name }) => name !== "default");
      if (left.length === 0) break;
      if (Date.now() > deadline)
        throw new Error(`after ${SECONDS} s the cloud still has ${left.length} ${kind.field}`);
      await Promise.all(
        left.map(async (object) => {
          const id = object.keypair?.name ?? object.id;
          if (asked.has(id)) return;
          asked.add(id);
          await remove(api, kind, id, object);
        }),
      );
      await pause(200);
    }
  }
}

async function remove(
  api: CloudApi,
  { service, path }: (typeof KINDS)[number],
  id: string,
  { device_owner: owner, device_id: router }: Listed,
): Promise<void> {
  if (owner === "network:router_interface")
    await api.call("neutron", "PUT", `/v2.0/routers/${router}/remove_router_interface`, { port_id: id });
  else await api.call(service, "DELETE", `${path}/${encodeURIComponent(id)}`);
}
