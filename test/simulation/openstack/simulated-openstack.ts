import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SimulatedMachines } from "../simulated-machines";
import { Neutron, NEUTRON_DEFAULTS } from "./neutron";
import { Nova } from "./nova";
import {
  type Answer,
  CloudObjects,
  type Fields,
  NOT_FOUND,
  PROJECT,
  type Request,
  type SavedCloud,
} from "./objects";

const REGION = "RegionOne";

/** What an empty project has: names that a stack's configuration takes. */
export const CLOUD = {
  cloud: "simulated",
  flavor: "small",
  otherFlavor: "large",
  image: "node",
  externalNetwork: "public",
} as const;

/** Keystone, Nova, Neutron and Glance of one project on one port; its servers are simulated machines. */
export class SimulatedOpenstack {
  /** Requests that nothing here answers. */
  readonly unknown: string[] = [];
  private readonly objects: CloudObjects;
  private readonly services: Readonly<
    Record<string, (request: Request) => Answer | undefined | Promise<Answer | undefined>>
  >;
  private readonly server: Server;
  /** Answered to the next requests of a service, in the place of its own answers. */
  private fault: { service: string; method?: unknown; left: number; answer: Answer } | undefined;

  constructor(machines: SimulatedMachines, saved: SavedCloud = emptyProject()) {
    this.objects = new CloudObjects(saved);
    const [nova, neutron] = [new Nova(this.objects, machines), new Neutron(this.objects, machines)];
    this.services = {
      identity: (asked) => this.keystone(asked),
      compute: (asked) => nova.answer(asked),
      network: (asked) => neutron.answer(asked),
      image: (asked) => this.glance(asked),
    };
    this.server = createServer((incoming, outgoing) => {
      void this.handle(incoming)
        .catch((error: Error): Answer => ({ status: 500, body: { error: { message: error.message } } }))
        .then(({ status, body, headers }) => {
          outgoing.writeHead(status, { "Content-Type": "application/json", ...headers });
          outgoing.end(body === undefined ? "" : JSON.stringify(body));
        });
    });
  }

  async start(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, "127.0.0.1", resolve);
    });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The text of clouds.yaml, which is JSON, too. */
  cloudsFile(): string {
    const auth = { auth_url: `${this.url}/identity/v3`, username: "operator", password: "not-a-secret" };
    const project = { project_id: PROJECT, user_domain_name: "Default" };
    const clouds = { [CLOUD.cloud]: { auth: { ...auth, ...project }, region_name: REGION } };
    return JSON.stringify({ clouds });
  }

  save(): SavedCloud {
    return this.objects.save();
  }

  private get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async handle(incoming: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? "/", "http://localhost");
    const [, service = "", path = ""] = /^\/(\w+)(?:\/v[\d.]+)?(\/.*)?$/.exec(url.pathname) ?? [];
    const request: Request = {
      method: incoming.method ?? "GET",
      path,
      query: url.searchParams,
      body: text === "" ? {} : (JSON.parse(text) as Fields),
    };
    if (service === "faults") return this.expectFault(request.body);
    const { fault } = this;
    const isOfMethod = fault?.method === undefined || fault.method === request.method;
    if (fault?.service === service && isOfMethod && fault.left-- > 0) return fault.answer;
    const answer = await this.services[service]?.(request);
    if (!answer) this.unknown.push(`${request.method} ${incoming.url ?? ""}`);
    return answer ?? NOT_FOUND;
  }

  /** Takes {service, method, times, status, retryAfter}; answers how often the fault before is still to be answered. */
  private expectFault({ service, method, times, status, retryAfter }: Fields): Answer {
    const left = Math.max(0, this.fault?.left ?? 0);
    const headers = { "Retry-After": String(retryAfter) };
    const message = Number(status) === 503 ? "no server is available" : "too many requests";
    const body = { error: { message } };
    const answer = { status: Number(status), headers, body };
    this.fault = typeof service === "string" ? { service, method, left: Number(times), answer } : undefined;
    return { status: 200, body: { left } };
  }

  private keystone({ method, path }: Request): Answer | undefined {
    if (method === "GET" && path === "")
      return {
        status: 200,
        body: {
          version: {
            id: "v3.14",
            status: "stable",
            links: [{ rel: "self", href: `${this.url}/identity/v3/` }],
          },
        },
      };
    if (method !== "POST" || path !== "/auth/tokens") return undefined;
    const endpoint = (type: string, at: string) => ({
      type,
      name: type,
      endpoints: [
        { id: type, interface: "public", region: REGION, region_id: REGION, url: `${this.url}${at}` },
      ],
    });
    const token = {
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      issued_at: new Date().toISOString(),
      methods: ["password"],
      project: { id: PROJECT, name: "project", domain: { id: "default", name: "Default" } },
      user: { id: "operator", name: "operator", domain: { id: "default", name: "Default" } },
      roles: [{ id: "member", name: "member" }],
      catalog: [
        endpoint("identity", "/identity/v3"),
        endpoint("compute", "/compute/v2.1"),
        endpoint("network", "/network"),
        endpoint("image", "/image"),
      ],
    };
    return { status: 201, headers: { "X-Subject-Token": "simulated" }, body: { token } };
  }

  private glance({ method, path }: Request): Answer | undefined {
    if (method !== "GET") return undefined;
    if (path === "/images") return { status: 200, body: { images: this.objects.all("images") } };
    const image = this.objects.find("images", path.split("/").at(-1));
    return image ? { status: 200, body: image } : undefined;
  }
}

function emptyProject(): SavedCloud {
  const flavor = (id: string, name: string) => ({
    ...{ id, name },
    vcpus: 2,
    ram: 4096,
    disk: 20,
    "os-flavor-access:is_public": true,
  });
  const image = {
    name: CLOUD.image,
    status: "active",
    min_disk: 0,
    min_ram: 0,
    size: 1,
    visibility: "public",
  };
  const network = {
    ...NEUTRON_DEFAULTS["networks"],
    name: CLOUD.externalNetwork,
    status: "ACTIVE",
    description: "",
  };
  return {
    flavors: [flavor("1", CLOUD.flavor), flavor("2", CLOUD.otherFlavor)],
    images: [{ ...image, id: randomUUID(), tags: [], container_format: "bare", disk_format: "qcow2" }],
    networks: [{ ...network, "router:external": true, id: randomUUID() }],
  };
}
