import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writePrivate } from "../private-file";

/** The services of the cloud, each after those that it calls at its start. */
export const SERVICES = ["keystone", "placement", "glance", "neutron", "nova", "octavia", "cinder"] as const;

export type ServiceName = (typeof SERVICES)[number];

/** The optional services of a cloud. */
const SERVICES_ON_REQUEST = ["octavia", "cinder"] as const satisfies readonly ServiceName[];

/** The settings of a cloud that stay fixed from its first start to its deletion. */
export interface CloudSettings {
  /** The system of its servers' container nodes; a DNS label. */
  readonly system: string;
  /** Whether servers are containers; without them they are rows in nova's database. */
  readonly containers: boolean;
  /** Whether it has load balancers. */
  readonly octavia: boolean;
  /** Whether it has volumes; a cloud of an older start has not. */
  readonly cinder?: boolean;
  /** Kubernetes versions, such as ["1.36.3"], and other bundles whose images are preloaded on each server. */
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
  /** Where each service listens; the services connect to each other here. */
  readonly internal: Readonly<Record<ServiceName, number>>;
  /** Where clients connect to each service; faults are injected between this and the port above. */
  readonly public: Readonly<Record<ServiceName, number>>;
  /** Where faults are requested. */
  readonly control: number;
}

interface CloudPasswords {
  /** of the user admin */
  readonly administrator: string;
  /** of the services' own user */
  readonly service: string;
  /** of the user foresail */
  readonly project: string;
  /** of the application credential */
  readonly credential: string;
  /** for the control port */
  readonly control: string;
}

/** Returns the address at which clients connect to the services. */
export function publicAddress({ address = "127.0.0.1" }: Pick<CloudSettings, "address">): string {
  return address;
}

/** The number of ports that a cloud needs. */
export const PORT_COUNT = 2 * SERVICES.length + 1;

/**
 * Assigns each service its ports.
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

/** Generates random passwords. */
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

/**
 * Returns hexadecimal digits for a cloud's folder, which determine where the search for free ports and subnets starts.
 */
export function seedOf(folder: string): string {
  return createHash("sha256").update(folder).digest("hex").slice(0, 8);
}

/** Returns the services of a cloud. */
export function servicesOf(
  settings: Pick<CloudSettings, (typeof SERVICES_ON_REQUEST)[number]>,
): ServiceName[] {
  const isOnRequest = (service: ServiceName) =>
    (SERVICES_ON_REQUEST as readonly ServiceName[]).includes(service);
  return SERVICES.filter(
    (service) => !isOnRequest(service) || settings[service as (typeof SERVICES_ON_REQUEST)[number]] === true,
  );
}

/** Returns the paths of a cloud's files. */
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

/** Writes the settings, readable by their owner only. */
export async function writeSettings(folder: string, settings: CloudSettings): Promise<void> {
  await writePrivate(cloudPaths(folder).settings, `${JSON.stringify(settings, undefined, 2)}\n`);
}
