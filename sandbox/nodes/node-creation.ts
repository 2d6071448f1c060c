import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { hardwareAddress } from "./addresses";
import { canShareContent, copyContent } from "./containerd-content";
import type { ContainerEngine } from "./engine";
import { containerName, NODE_LABEL, volumeName, VOLUMES, type FleetNames } from "./names";
import { NODE_IMAGE } from "./node-image";
import { KEYS_IN_NODE } from "./node-recipe";
import type { NodeRecord } from "./node-record";
import { BUNDLES_IN_NODE, bundlesFolder, nodeFolder, nodeKeyFile } from "./places";
import { ensureHostKey, ensureNodeKey } from "./ssh-keys";

/** The labels by which later nodes see what is taken, of stopped nodes and of other clones. */
export const SSH_PORT_LABEL = "foresail.ssh-port";
export const API_PORT_LABEL = "foresail.api-port";

/** Where a new node is to be found. */
export type Place = Pick<NodeRecord, "sshPort" | "apiPort" | "internalAddress">;

/**
 * Makes a node's folder, volumes and container, and starts it.
 * @param content a containerd folder with the images that it begins with
 * @returns its record, to be written when the node answers
 */
export async function createNode(
  engine: ContainerEngine,
  names: FleetNames,
  name: string,
  place: Place,
  content: string | undefined,
): Promise<NodeRecord> {
  const folder = nodeFolder(names.system, name);
  const keys = path.join(folder, "keys");
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const hostKey = await ensureHostKey(keys);
  await ensureNodeKey();
  await copyFile(`${nodeKeyFile}.pub`, path.join(keys, "authorized_keys"));
  await mkdir(bundlesFolder, { recursive: true });
  const shared = content !== undefined && (await canShareContent(engine, folder));
  const containerd = path.join(folder, "containerd");
  if (shared) await copyContent(content, containerd);

  const labels = { ...names.labels, [NODE_LABEL]: name };
  const mounts: string[] = [];
  for (const [volume, target] of Object.entries(VOLUMES)) {
    if (volume === "containerd" && shared) {
      mounts.push("--volume", `${containerd}:${target}`);
      continue;
    }
    const volumeOfNode = volumeName(names, name, volume);
    await engine.call(["volume", "create", ...labelArguments(labels), volumeOfNode]);
    mounts.push("--volume", `${volumeOfNode}:${target}`);
  }
  const container = containerName(names, name);
  await engine.call([
    ...["run", "--detach", "--name", container, "--hostname", name],
    ...labelArguments({
      ...labels,
      [SSH_PORT_LABEL]: String(place.sshPort),
      [API_PORT_LABEL]: String(place.apiPort),
    }),
    ...["--network", names.network, "--ip", place.internalAddress],
    ...["--mac-address", hardwareAddress(place.internalAddress)],
    ...["--publish", `127.0.0.1:${place.sshPort}:22`, "--publish", `127.0.0.1:${place.apiPort}:6443`],
    ...["--volume", `${bundlesFolder}:${BUNDLES_IN_NODE}:ro`, "--volume", `${keys}:${KEYS_IN_NODE}:ro`],
    ...mounts,
    ...(await engine.nestingArguments()),
    ...["--env", `container=${engine.program}`, "--stop-signal", "SIGRTMIN+3"],
    ...["--tmpfs", "/run", "--tmpfs", "/tmp"],
    ...[NODE_IMAGE, "/lib/systemd/systemd"],
  ]);
  return { name, container, hostKey, ...place };
}

/** Labels as arguments of podman and docker. */
export function labelArguments(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([key, value]) => ["--label", `${key}=${value}`]);
}
