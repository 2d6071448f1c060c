import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writePrivate } from "../private-file";

/** The services of the cloud, each after those that it asks at its start. */
export const SERVICES = ["keystone", "placement", "glance", "neutron", "nova", "octavia", "cinder"] as const;

export type ServiceName = (typeof SERVICES)[number];

/** The services that a cloud has only when asked for. */
const SERVICES_ON_REQUEST = ["octavia", "cinder"] as const satisfies readonly ServiceName[];

/** What is fixed of a cloud from its first start to its deletion. */
export interface CloudSettings {
  /** The system of container nodes that its servers are; a DNS label. */
  readonly system: string;
  /** Whether servers are containers; without them they are rows in nova's database. */
  readonly containers: boolean;
  /** Whether it has load balancers. */
  readonly octavia: boolean;
  /** Whether it has volumes; a cloud of an older start has not. */
  readonly cinder?: boolean;
  /** Kubernetes versions, such as ["1.36.3"], and other bundles whose images each server has from its beginning. */
  readonly bundles: readonly string[];
  /** Where clients find the services; absent: 127.0.0.1. */
  readonly address?: string;
  readonly ports: CloudPorts;
  readonly passwords: CloudPasswords;
  /** The external network, a /24. */
  readonly publicCidr: string;
}

/** Ports of 127.0.0.1; the public ones of the cloud's address. */
export interface CloudPorts {
  /** Where each service listens; the services speak with each other here. */
  readonly internal: Readonly<Record<ServiceName, number>>;
  /** Where clients find each service; faults happen between this and the port above. */
  readonly public: Readonly<Record<ServiceName, number>>;
  /** Where faults are asked for. */
  readonly control: number;
}

interface CloudPasswords {
  /** of the user admin */
  readonly administrator: string;
  /** of the user of the services among themselves */
  readonly service: string;
  /** of the user foresail */
  readonly project: string;
  /** of the application credential */
  readonly credential: string;
  /** what opens the control port */
  readonly control: string;
}

/** The address at which clients find the services. */
export function publicAddress({ address = "127.0.0.1" }: Pick<CloudSettings, "address">): string {
  return address;
}

/** How many ports a cloud needs. */
export const PORT_COUNT = 2 * SERVICES.length + 1;

/**
 * Gives each service its ports.
 * @param free as many as PORT_COUNT
 * @throws Error when there are fewer
 */
export function assignPorts(free: readonly number[]): CloudPorts {
  if (free.length < PORT_COUNT) throw new Error(`a cloud needs ${PORT_COUNT} ports, not ${free.length}`);
  const take = (from: number) =>
    Object.fromEntries(SERVICES.map((service, index) => [service, free[from + index]])) as Record<
      ServiceName,
      number
    >;
  return {
    internal: take(0),
    public: take(SERVICES.length),
    control: free[PORT_COUNT - 1] as number,
  };
}

/** All ports of a cloud. */
export function portsOf(ports: CloudPorts): number[] {
  return [...Object.values(ports.internal), ...Object.values(ports.public), ports.control];
}

/** Passwords that nobody has to type. */
export function generatePasswords(): CloudPasswords {
  const password = () => randomBytes(24).toString("base64url");
  return {
    administrator: password(),
    service: password(),
    project: password(),
    credential: password(),
    control: password(),
  };
}

/** Hexadecimal digits of a cloud's folder: where to begin looking for free ports and subnets. */
export function seedOf(folder: string): string {
  return createHash("sha256").update(folder).digest("hex").slice(0, 8);
}

/** The services that a cloud has. */
export function servicesOf(
  settings: Pick<CloudSettings, (typeof SERVICES_ON_REQUEST)[number]>,
): ServiceName[] {
  const isOnRequest = (service: ServiceName) =>
    (SERVICES_ON_REQUEST as readonly ServiceName[]).includes(service);
  return SERVICES.filter(
    (service) => !isOnRequest(service) || settings[service as (typeof SERVICES_ON_REQUEST)[number]] === true,
  );
}

/** Where a cloud keeps what. */
export function cloudPaths(folder: string) {
  const at = (...parts: string[]) => path.join(folder, ...parts);
  return {
    folder,
    settings: at("cloud.json"),
    seeded: at("seeded.json"),
    processes: at("processes.json"),
    clouds: at("clouds.yaml"),
    configuration: at("configuration"),
    logs: at("logs"),
    databases: at("databases"),
    state: at("state"),
    machines: at("machines"),
    floatingIps: at("floating-ips.json"),
    volumeFault: at("volume-fault.txt"),
  };
}

export type CloudPaths = ReturnType<typeof cloudPaths>;

/** Reads the settings of a cloud; undefined before its first start. */
export async function readSettings(folder: string): Promise<CloudSettings | undefined> {
  const text = await readFile(cloudPaths(folder).settings, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as CloudSettings);
}

/** Writes the settings, for the owner's eyes only. */
export async function writeSettings(folder: string, settings: CloudSettings): Promise<void> {
  await writePrivate(cloudPaths(folder).settings, `${JSON.stringify(settings, undefined, 2)}\n`);
}
