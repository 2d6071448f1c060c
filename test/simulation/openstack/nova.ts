import { randomUUID } from "node:crypto";
import type { SimulatedMachines } from "../simulated-machines";
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

const CREATED = "2026-01-01T00:00:00Z";

/** Servers, which are simulated machines, with flavors, keypairs and server groups. */
export class Nova {
  constructor(
    private readonly objects: CloudObjects,
    private readonly machines: SimulatedMachines,
  ) {}

  async answer(request: Request): Promise<Answer | undefined> {
    const { method, path, query, body } = request;
    const [, kind = "", id, action] = path.split("/");
    if (kind === "servers") return this.servers(request, id === "detail" ? undefined : id, action);
    if (method === "GET" && kind === "flavors")
      return id === undefined || id === "detail"
        ? { status: 200, body: { flavors: this.objects.all("flavors") } }
        : { status: 200, body: { flavor: this.objects.find("flavors", id) } };
    if (method === "GET" && kind === "limits") return { status: 200, body: { limits: { absolute: {} } } };
    if (method === "GET" && kind === "os-availability-zone") {
      const zone = { zoneName: "nova", zoneState: { available: true } };
      return { status: 200, body: { availabilityZoneInfo: [zone] } };
    }
    if (kind === "os-keypairs") return this.keypairs(method, id, body["keypair"] as Fields);
    if (kind !== "os-server-groups") return undefined;
    if (method === "POST") {
      const made = { members: [], metadata: {}, ...(body["server_group"] as Fields), id: randomUUID() };
      this.objects.all(kind).push(made);
      return { status: 200, body: { server_group: made } };
    }
    if (id === undefined)
      return {
        status: 200,
        body: { server_groups: this.objects.all(kind).filter((one) => matches(one, query)) },
      };
    const found = this.objects.find(kind, id);
    if (found && method === "DELETE") this.objects.delete(kind, id);
    return found && { status: method === "DELETE" ? 204 : 200, body: { server_group: found } };
  }

  private keypairs(method: string, name: string | undefined, fields: Fields = {}): Answer | undefined {
    const kind = "os-keypairs";
    if (method === "POST") {
      const made = {
        fingerprint: "00:11",
        user_id: "operator",
        type: "ssh",
        ...fields,
        id: fields["name"] as string,
      };
      this.objects.all(kind).push(made);
      return { status: 200, body: { keypair: made } };
    }
    if (name === undefined)
      return { status: 200, body: { keypairs: this.objects.all(kind).map((keypair) => ({ keypair })) } };
    const found = this.objects.find(kind, decodeURIComponent(name));
    if (found && method === "DELETE") this.objects.delete(kind, found.id);
    return found && { status: method === "DELETE" ? 202 : 200, body: { keypair: found } };
  }

  private async servers(
    { method, query, body }: Request,
    id: string | undefined,
    action: string | undefined,
  ): Promise<Answer | undefined> {
    if (method === "POST" && id === undefined) return this.createServer(body["server"] as Fields);
    if (id === undefined) {
      const [name, status] = [new RegExp(query.get("name") ?? ""), query.get("status")];
      const found = this.objects
        .all("servers")
        .filter(
          (server) => name.test(server["name"] as string) && (status === null || server["status"] === status),
        );
      return { status: 200, body: { servers: found } };
    }
    const server = this.objects.find("servers", id);
    if (!server) return NOT_FOUND;
    if (method === "DELETE") {
      this.objects.delete("servers", id);
      await this.machines.remove(server["name"] as string);
      for (const port of this.objects.all("ports"))
        if (port["device_id"] === id) Object.assign(port, { device_id: "" });
      return { status: 204 };
    }
    if (method === "PUT" && action === undefined) await this.change(server, body["server"] as Fields);
    if (action === "metadata") {
      const metadata = server["metadata"] as Fields;
      if (method === "POST") Object.assign(metadata, body["metadata"]);
      return { status: 200, body: { metadata } };
    }
    if (action === "tags") return { status: 200, body: { tags: [] } };
    if (action === "action") return { status: 200, body: { output: this.console(server) } };
    return action === undefined ? { status: 200, body: { server } } : undefined;
  }

  /** A server with another status is stopped or started. */
  private async change(server: CloudObject, fields: Fields): Promise<void> {
    const { status = server["status"] } = fields;
    const machine = this.objects.all("ports").find((port) => port["device_id"] === server.id)?.["name"];
    if (status !== server["status"]) await this.machines.setRunning(machine as string, status === "ACTIVE");
    Object.assign(server, fields);
  }

  private async createServer(fields: Fields): Promise<Answer> {
    const id = randomUUID();
    const [{ port: portId } = {}] = fields["networks"] as { port?: string }[];
    const port = this.objects.find("ports", portId);
    const key = this.objects.find("os-keypairs", fields["key_name"] as string);
    if (!port || !key) return { status: 400, body: { badRequest: { message: "no such port or keypair" } } };
    const { address } = await this.machines.create(
      fields["name"] as string,
      key["public_key"] as string,
      this.machines.reserve(port.id),
    );
    Object.assign(port, { device_id: id, device_owner: "compute:nova" });
    const network = this.objects.find("networks", port["network_id"] as string);
    const server = {
      id,
      name: fields["name"],
      metadata: fields["metadata"] ?? {},
      key_name: key.id,
      flavor: { id: fields["flavorRef"] },
      image: { id: fields["imageRef"] },
      status: "ACTIVE",
      progress: 100,
      tenant_id: PROJECT,
      user_id: "operator",
      hostId: "host",
      created: CREATED,
      updated: CREATED,
      accessIPv4: "",
      accessIPv6: "",
      config_drive: "",
      security_groups: [],
      addresses: {
        [network?.["name"] as string]: [
          {
            ...{ addr: address, version: 4, "OS-EXT-IPS:type": "fixed" },
            "OS-EXT-IPS-MAC:mac_addr": port["mac_address"],
          },
        ],
      },
      "OS-EXT-STS:power_state": 1,
      "OS-EXT-STS:task_state": null,
      "OS-EXT-STS:vm_state": "active",
      "OS-EXT-AZ:availability_zone": "nova",
      "os-extended-volumes:volumes_attached": [],
    };
    this.objects.all("servers").push(server);
    return { status: 202, body: { server } };
  }

  /** What cloud-init prints at the first boot. */
  private console(server: CloudObject): string {
    const hostKey = this.machines.hostKey(server["name"] as string) ?? "";
    return `-----BEGIN SSH HOST KEY KEYS-----\n${hostKey}\n-----END SSH HOST KEY KEYS-----\n`;
  }
}
