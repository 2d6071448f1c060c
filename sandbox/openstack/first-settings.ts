import { chmod, mkdir } from "node:fs/promises";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { ContainerEngine } from "../nodes/engine";
import { findFreeSubnet } from "../nodes/free-subnet";
import { findFreePorts } from "../nodes/ports";
import type { Reporter } from "../progress";
import type { CloudOptions } from "./cloud-options";
import {
  assignPorts,
  generatePasswords,
  PORT_COUNT,
  portsOf,
  readSettings,
  seedOf,
  writeSettings,
  type CloudSettings,
} from "./settings";

/**
 * Returns the settings of the first start; chooses new ports when another process took one meanwhile.
 * @param isRunning whether processes of the cloud are running, which then use its ports
 * @throws Error when containers of this machine could not be reached
 */
export async function ensureSettings(
  options: CloudOptions,
  isRunning: boolean,
  report: Reporter,
): Promise<CloudSettings> {
  const folder = path.resolve(options.folder);
  const existing = await readSettings(folder);
  if (existing !== undefined && (isRunning || (await areFree(portsOf(existing.ports))))) return existing;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const ports = assignPorts(await findFreePorts(seedOf(folder), PORT_COUNT, new Set()));
  const containers = options.containers ?? true;
  const settings: CloudSettings =
    existing === undefined
      ? {
          system: options.system,
          containers,
          octavia: options.octavia ?? false,
          cinder: options.cinder ?? false,
          bundles: options.bundles ?? [],
          ...(options.reachedByServers === true ? { address: await ownAddress() } : {}),
          ports,
          passwords: generatePasswords(),
          publicCidr: await choosePublicCidr(folder, containers, report),
        }
      : { ...existing, ports };
  await writeSettings(folder, settings);
  return settings;
}

async function choosePublicCidr(folder: string, containers: boolean, report: Reporter): Promise<string> {
  const engine = containers ? await ContainerEngine.ensure(report) : undefined;
  if (engine?.program === "podman" && !engine.isRootful) {
    throw new Error(
      "the servers of the sandbox's OpenStack are reached at their own addresses, which podman's containers have " +
        "only when root runs them: run this as root, or install docker",
    );
  }
  return findFreeSubnet(seedOf(folder), engine);
}

/** Returns the source address of this machine for outgoing traffic; sends nothing. */
async function ownAddress(): Promise<string> {
  const socket = createSocket("udp4");
  try {
    // an address reserved for documentation
    socket.connect(9, "203.0.113.1");
    await once(socket, "connect");
    return socket.address().address;
  } catch (error) {
    throw new Error("this machine has no address besides 127.0.0.1 at which servers could reach the cloud", {
      cause: error,
    });
  } finally {
    socket.close();
  }
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) {
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (!isFree) return false;
  }
  return true;
}
