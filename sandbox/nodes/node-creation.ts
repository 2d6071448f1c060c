import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { hardwareAddress } from "./addresses";
import { canShareContent, copyContent } from "./containerd-content";
import type { ContainerEngine } from "./engine";
import { containerName, NODE_LABEL, PROJECT_LABEL, volumeName, VOLUMES, type FleetNames } from "./names";
import { nodeImage } from "./node-image";
import type { NodeKind } from "./node-kinds";
import { KEYS_IN_NODE } from "./node-recipe";
import type { NodeRecord } from "./node-record";
import { BUNDLES_IN_NODE, bundlesFolder, nodeFolder } from "./paths";
import { ensureHostKey, ensureNodeKey } from "./ssh-keys";

/**
 * The labels that show later nodes which ports and addresses are in use, including those of stopped nodes and other
 * clones.
 */
const SSH_PORT_LABEL = "foresail.ssh-port";
const API_PORT_LABEL = "foresail.api-port";

/** The ports and address of a new node. */
export type NodeAddresses = Pick<NodeRecord, "sshPort" | "apiPort" | "internalAddress">;

/** Settings in which a node differs from every other one of its fleet, such as a server on another network. */
export interface NodeVariant {
  /** default: that of the sandbox */
  readonly kind: NodeKind;
  /** default: the node's name */
  readonly hostname: string;
  /** of the engine; default: the fleet's own */
  readonly network: string;
  /** default: derived from its address */
  readonly hardwareAddress: string;
  /** lines of authorized_keys; default: the project's key for nodes */
  readonly authorizedKeys: string;
}

/**
 * Creates a node's folder, volumes and container, and starts it.
 * @param content a containerd folder with its preloaded images
 * @returns its record, to be written once the node answers
 */
export async function createNode(
  engine: ContainerEngine,
  names: FleetNames,
  name: string,
  addresses: NodeAddresses,
  content: string | undefined,
  variant: Partial<NodeVariant> = {},
): Promise<NodeRecord> {
  const folder = nodeFolder(names.system, name);
  const keys = path.join(folder, "keys");
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const hostKey = await ensureHostKey(keys);
  const authorized = variant.authorizedKeys ?? `${await ensureNodeKey()}\n`;
  await writeFile(path.join(keys, "authorized_keys"), authorized, { mode: 0o644 });
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
    ...["run", "--detach", "--name", container, "--hostname", variant.hostname ?? name],
    ...labelArguments({
      ...labels,
      [SSH_PORT_LABEL]: String(addresses.sshPort),
      [API_PORT_LABEL]: String(addresses.apiPort),
    }),
    ...["--network", variant.network ?? names.network, "--ip", addresses.internalAddress],
    ...["--mac-address", variant.hardwareAddress ?? hardwareAddress(addresses.internalAddress)],
    ...["--publish", `127.0.0.1:${addresses.sshPort}:22`, "--publish", `127.0.0.1:${addresses.apiPort}:6443`],
    ...["--volume", `${bundlesFolder}:${BUNDLES_IN_NODE}:ro`, "--volume", `${keys}:${KEYS_IN_NODE}:ro`],
    ...mounts,
    ...(await engine.nestingArguments()),
    ...["--env", `container=${engine.program}`, "--stop-signal", "SIGRTMIN+3"],
    ...["--tmpfs", "/run", "--tmpfs", "/tmp"],
    ...[nodeImage(variant.kind), "/lib/systemd/systemd"],
  ]);
  return { name, container, hostKey, ...addresses };
}

/** Returns the ports that nodes of any clone publish, running or stopped. */
export async function takenPorts(engine: ContainerEngine): Promise<Set<number>> {
  const nodes = await engine.containers({ [PROJECT_LABEL]: "" });
  return new Set(
    nodes.flatMap(({ labels }) => [Number(labels[SSH_PORT_LABEL]), Number(labels[API_PORT_LABEL])]),
  );
}

/** Returns labels as arguments of podman and docker. */
export function labelArguments(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([key, value]) => ["--label", `${key}=${value}`]);
}
