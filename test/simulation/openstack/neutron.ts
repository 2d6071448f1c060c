import { randomUUID } from "node:crypto";
import {
  type Answer,
  type CloudObject,
  type CloudObjects,
  type Fields,
  matches,
  NOT_FOUND,
  PROJECT,
  type Request,
} from "./objects";
import type { SimulatedMachines } from "../simulated-machines";

/** In every subnet: no machine uses it. */
const GATEWAY = "10.20.0.1";

/** What Neutron sets where a request says nothing. */
export const NEUTRON_DEFAULTS: Readonly<Record<string, Fields>> = {
  networks: { admin_state_up: true, shared: false, "router:external": false, subnets: [], mtu: 1500 },
  subnets: { enable_dhcp: true, dns_nameservers: [], host_routes: [], allocation_pools: [], ip_version: 4 },
  routers: { admin_state_up: true, distributed: false, external_gateway_info: null, routes: [] },
  ports: { admin_state_up: true, device_id: "", device_owner: "", allowed_address_pairs: [] },
  floatingips: {},
  "security-groups": { stateful: true },
  "security-group-rules": {
    ...{ port_range_min: null, port_range_max: null, protocol: null },
    ...{ remote_group_id: null, remote_ip_prefix: null },
  },
};

/** Networks and ports; a port has the address at which its machine will listen. */
export class Neutron {
  constructor(
    private readonly objects: CloudObjects,
    private readonly machines: SimulatedMachines,
  ) {}

  answer(request: Request): Answer | undefined {
    const { method, path, query, body } = request;
    const [, kind = "", id, action] = path.split("/");
    // a project without limits
    if (kind === "quotas" && id === "tenant")
      return { status: 200, body: { tenant: { tenant_id: PROJECT } } };
    if (kind === "quotas") return { status: 200, body: { quota: {} } };
    if (!(kind in NEUTRON_DEFAULTS)) return undefined;
    const plural = kind.replaceAll("-", "_");
    const singular = plural.replace(/s$/, "");
    if (method === "GET" && id === undefined) {
      const found = this.objects.all(kind).filter((object) => matches(object, query));
      return { status: 200, body: { [plural]: found.map((object) => this.shown(kind, object)) } };
    }
    if (method === "POST") {
      const made = this.createInNetwork(kind, body[singular] as Fields);
      return { status: 201, body: { [singular]: this.shown(kind, made) } };
    }
    const object = this.objects.find(kind, id);
    if (!object) return NOT_FOUND;
    if (method === "PUT" && action !== undefined) return this.changeRouter(object, action, body);
    if (method === "PUT") Object.assign(object, body[singular]);
    if (method === "DELETE") {
      this.objects.delete(kind, object.id);
      if (kind === "security-groups")
        for (const rule of this.objects.all("security-group-rules"))
          if (rule["security_group_id"] === object.id) this.objects.delete("security-group-rules", rule.id);
      return { status: 204 };
    }
    return { status: 200, body: { [singular]: this.shown(kind, object) } };
  }

  private shown(kind: string, object: CloudObject): CloudObject {
    if (kind !== "security-groups") return object;
    const rules = this.objects
      .all("security-group-rules")
      .filter((rule) => rule["security_group_id"] === object.id);
    return { ...object, security_group_rules: rules };
  }

  private createInNetwork(kind: string, fields: Fields): CloudObject {
    const common = { status: "ACTIVE", tenant_id: PROJECT, project_id: PROJECT, description: "", tags: [] };
    const object = { ...common, ...NEUTRON_DEFAULTS[kind], ...fields, id: randomUUID() };
    if (kind === "ports") this.addressPort(object);
    if (kind === "subnets") Object.assign(object, { gateway_ip: GATEWAY, ...fields });
    if (kind === "security-groups") {
      const common = { security_group_id: object.id, direction: "egress", description: "" };
      for (const ethertype of ["IPv4", "IPv6"])
        this.createInNetwork("security-group-rules", { ...common, ethertype });
    }
    this.objects.all(kind).push(object);
    return object;
  }

  /** Gives a port the address at which its machine will listen, and each fixed IP the same. */
  private addressPort(port: CloudObject): void {
    const ip_address = this.machines.reserve(port.id);
    const [fixed] = (port["fixed_ips"] as Fields[] | undefined) ?? [];
    const allowed = port["allowed_address_pairs"] as Fields[];
    const mac_address = `fa:16:3e:${port.id.slice(0, 6).replace(/(..)(?=.)/g, "$1:")}`;
    Object.assign(port, {
      fixed_ips: [{ ...fixed, ip_address }],
      mac_address,
      allowed_address_pairs: allowed.map((pair) => ({ mac_address, ...pair })),
    });
  }

  private changeRouter(router: CloudObject, action: string, body: Fields): Answer | undefined {
    const subnet = this.objects.find("subnets", body["subnet_id"] as string);
    if (action === "add_router_interface" && subnet) {
      const port = {
        ...{ id: randomUUID(), network_id: subnet["network_id"], device_id: router.id, status: "ACTIVE" },
        ...{ device_owner: "network:router_interface", name: "", description: "", tenant_id: PROJECT },
        ...{
          admin_state_up: true,
          security_groups: [],
          allowed_address_pairs: [],
          mac_address: "fa:16:3e:00:00:01",
        },
        fixed_ips: [{ subnet_id: subnet.id, ip_address: GATEWAY }],
      };
      this.objects.all("ports").push(port);
      return {
        status: 200,
        body: { id: router.id, subnet_id: subnet.id, port_id: port.id, tenant_id: PROJECT },
      };
    }
    if (action !== "remove_router_interface") return undefined;
    const [port] = this.objects.all("ports").filter(({ device_id }) => device_id === router.id);
    if (!port) return NOT_FOUND;
    this.objects.delete("ports", port.id);
    return { status: 200, body: { id: router.id, port_id: port.id } };
  }
}
